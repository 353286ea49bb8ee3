package pressure

// A Level says how scarce memory is. The zero Level is Low; a higher level is a greater
// number.
type Level uint8

const (
	Low Level = iota
	Medium
	High
)

// String returns low, medium or high.
func (l Level) String() string {
	switch l {
	case Low:
		return "low"
	case Medium:
		return "medium"
	}
	return "high"
}

// The levels begin at these shares of a limit, which are those at which .NET's
// ArrayPool trims.
const (
	mediumAt = 0.70
	highAt   = 0.90
)

// stallAt is the share of time from which waiting for memory is pressure: 100 ms in 2
// s, the threshold that GLib's memory monitor uses.
const stallAt = 0.05
