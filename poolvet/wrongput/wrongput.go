// Package wrongput has the check wrongput of poolvet: what dewpond's Put refuses or takes for another block.
package wrongput

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find what is put back that is not a block of the pool

A slice that starts later than its block, one that append may have moved, one that make
has made, and one of another pool: dewpond refuses what it can tell, and takes the rest for
a block of its own.`

// Analyzer is the check.
var Analyzer = flow.Check("wrongput", Doc)
