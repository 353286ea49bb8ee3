// Package missingput has the check missingput of poolvet: ways on which what a pool has handed out is
// forgotten.
package missingput

import (
	"golang.org/x/tools/go/analysis"

	"github.com/dewpond/dewpond/poolvet/internal/flow"
)

// Doc is the analyzer's documentation.
const Doc = `find a return without a Put where another way has one

What is not put back costs an allocation, and an object of a pool with a Limit for good.
Objects that are handed on do not count. With -missingput.sync it looks at sync.Pool
as well, where such a loss costs little.`

// Analyzer is the check.
var Analyzer = withFlag(flow.Check("missingput", Doc))

func withFlag(a *analysis.Analyzer) *analysis.Analyzer {
	a.Flags.Bool("sync", false, "look at sync.Pool and other pools too")
	return a
}
