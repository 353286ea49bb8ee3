// Package doubleput has the check doubleput of poolvet: what is put back twice.
package doubleput

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find what is put back twice on one way

Then the pool hands it to two owners. A Put in a loop, one that is deferred as well, and
one that a callee has done already count.`

// Analyzer is the check.
var Analyzer = flow.Check("doubleput", Doc)
