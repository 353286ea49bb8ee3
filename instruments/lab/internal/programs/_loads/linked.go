//go:build dewpond_linked

package load

import "github.com/dewpond/dewpond/dewsync"

// dewpondUnused has dewpond linked and a pool made, which the program does not use.
var dewpondUnused = dewsync.Pool{New: func() any { return new(int) }}

func init() { dewpondUnused.Put(dewpondUnused.Get()) }
