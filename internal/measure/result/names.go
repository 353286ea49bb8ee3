package result

// The contenders that a report knows by name.
const (
	Baseline  = "syncpool-class"  // the best honest use of sync.Pool: what every ratio is to
	Control   = "nop"             // the floor of the driver: what every excess is over
	Ours      = "dewpond"         // the words begin with it
	Undecayed = "dewpond-nodecay" // Ours without decay
)

// Soaking is the name of the scenario that ends in a Soak.
const Soaking = "soak"
