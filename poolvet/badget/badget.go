// Package badget has the check badget of poolvet: Get asserted to be what New does not make.
package badget

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find a Get that is asserted to be what New does not make

It panics, if not at once then where the pool is empty: New returns another type, or there
is no New and Get returns nil.`

// Analyzer is the check.
var Analyzer = flow.Check("badget", Doc)
