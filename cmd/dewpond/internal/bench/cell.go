package bench

import "github.com/dewpond/dewpond/instruments/kit/result"

// A Cell is one way to use a pool in scenario rivals, and what its contenders make of it.
type Cell struct {
	Name  string `json:"name"`  // as --cells has it
	About string `json:"about"` // one line
	Zero  string `json:"zero"`  // dewpond's zeroing policy: ZeroNever, or ZeroOnPut, its default
	// Figures are what is compared, by the names that they have in the cell's part.
	Figures []CellFigure `json:"figures"`
	Rivals  []Rival      `json:"rivals"`
}

// A CellFigure is one figure that a cell compares. Of each less is better.
type CellFigure struct {
	Label  string `json:"label"`  // time, P99, peak RSS or collections
	Figure string `json:"figure"` // by its name in Ratios
	About  string `json:"about,omitempty"`
}

// A Rival is one contender in a cell.
type Rival struct {
	Name string `json:"name"`
	// LeftOut says why it took no part. It is empty if it did.
	LeftOut string     `json:"left_out,omitempty"`
	Figures []Compared `json:"figures,omitempty"` // those of the cell
}

// Compared is one figure of a rival.
type Compared struct {
	Value result.Figure `json:"value"`
	// ToSyncPool compares the rival with syncpool, and Ours dewpond with the rival. They are nil
	// for what cannot be compared: a contender with itself, and what was not measured.
	ToSyncPool *Beside `json:"to_syncpool,omitempty"`
	Ours       *Beside `json:"dewpond_to_this,omitempty"`
}

// Beside is how one contender's figure compares with another's.
type Beside struct {
	Ratio *result.Ratio `json:"ratio,omitempty"` // nil if the other has zero in some round
	// Difference is that of the two where there is no Ratio.
	Difference *result.Excess `json:"difference,omitempty"`
	// Side is better, worse, level, unclear or none to be seen. It is empty if there are too few
	// rounds to tell.
	Side string `json:"side,omitempty"`
}
