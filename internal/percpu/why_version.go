//go:build (!gc || !go1.24 || (go1.28 && !dewpond_pinned)) && !race && !dewpond_portable && !dewpond_explore

package percpu

import "runtime"

// why says why this is the portable engine.
var why = runtime.Compiler + " " + runtime.Version() + " is not gc go1.24 to go1.27; the tag dewpond_pinned pins on a newer gc too"
