//go:build (!gc || !go1.26 || go1.28) && !race && !dewpond_portable && !dewpond_explore

package percpu

import "runtime"

// why says why this is the portable engine.
var why = runtime.Compiler + " " + runtime.Version() + " is not gc go1.26 to go1.27"
