// Package overwrite has the check overwrite of poolvet: pools that change while they are in use.
package overwrite

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find pools that are overwritten, or get another New, while they are in use

A pool is shared. To assign to it, or to set its New, races with Get and Put elsewhere, and what is in
use then is put back into a pool of another kind. Set up a pool once, where it is made.`

// Analyzer is the check.
var Analyzer = flow.Check("overwrite", Doc)
