// Package buffer has the check buffer of poolvet: slices of a buffer used after it has moved on.
package buffer

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find slices of a dewpond.Buffer that are used after its next write

What Bytes, Next, Peek and AvailableBuffer return is valid until the next write, Grow or
Release.`

// Analyzer is the check.
var Analyzer = flow.Check("buffer", Doc)
