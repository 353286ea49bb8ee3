// Package unfit has the check unfit of poolvet: pools of what is no memory.
package unfit

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find pools of handles

A connection, a file, a context or a mutex stands for something outside the memory. It must
be closed, and no two are alike, so a pool of them loses or mixes what they stand for.`

// Analyzer is the check.
var Analyzer = flow.Check("unfit", Doc)
