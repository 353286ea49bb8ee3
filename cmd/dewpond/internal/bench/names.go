package bench

// The contenders that a report treats specially.
const (
	Baseline  = "syncpool-class"  // the best honest use of sync.Pool; every ratio is to it
	Control   = "nop"             // the cost of the driver; every excess is over it
	Ours      = "dewpond"         // the words begin with it
	Undecayed = "dewpond-nodecay" // Ours without decay
)

// Names of scenarios whose documents differ from the others.
const (
	Touring = "tour"   // several scenarios, its Parts
	Contest = "rivals" // likewise, and its Cells
)

// The contenders that scenario rivals treats specially, besides the others.
const (
	Plain  = "syncpool" // sync.Pool as most programs have it: in rivals every ratio is to it
	Synced = "dewsync"  // Plain with dewsync's type
)
