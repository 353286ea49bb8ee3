// Package percall has the check percall of poolvet: pools that are made on each call.
package percall

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find pools of dewpond that a function makes and lets go

Such a pool reuses nothing beyond the call, and is not closed. Keep it, return it or close it.`

// Analyzer is the check.
var Analyzer = flow.Check("percall", Doc)
