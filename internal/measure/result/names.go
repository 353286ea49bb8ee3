package result

// The contenders that a report treats specially.
const (
	Baseline  = "syncpool-class"  // the best honest use of sync.Pool; every ratio is to it
	Control   = "nop"             // the cost of the driver; every excess is over it
	Ours      = "dewpond"         // the words begin with it
	Undecayed = "dewpond-nodecay" // Ours without decay
)

// Soaking is the name of the scenario whose result is a Soak.
const Soaking = "soak"
