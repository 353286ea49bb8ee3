package bench

// Point is what a scenario is about: reports show it first.
type Point string

// The points.
const (
	Rate    Point = ""        // operations a second
	Figures Point = "figures" // single figures that only this scenario has
	Curves  Point = "curves"  // such figures, and how they come about over time
)

// A Shape is what reports must know of a scenario besides what its document says.
type Shape struct {
	Point Point
	// Waits means that rounds wait most of the time, or run for a set time whatever they do: so
	// there is no rate to compare, although no clock sets it.
	Waits bool
}

// shapes are those of the scenarios that are not about their rate.
var shapes = map[string]Shape{
	"micro":  {Point: Figures, Waits: true}, // runs its loops for a set time
	"burst":  {Point: Figures, Waits: true}, // for collections
	"beyond": {Point: Figures, Waits: true}, // for its next burst
	"flood":  {Point: Figures},
	"misuse": {Point: Figures},
	"churn":  {Point: Curves},
}

// Shape returns the shape of a scenario.
func (s Scenario) Shape() Shape { return shapes[s.Name] }

// SetsRate reports whether the contender sets the rate of a scenario, which only then is a figure
// to compare.
func (s Scenario) SetsRate() bool { return !s.Clocked() && !s.Shape().Waits }
