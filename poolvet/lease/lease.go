// Package lease has the check lease of poolvet: slices of a lease used after its Release.
package lease

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find slices of a lease that are used after its Release

The slice that Bytes returns belongs to the next owner then. A Release of a lease that
was released is found as well.`

// Analyzer is the check.
var Analyzer = flow.Check("lease", Doc)
