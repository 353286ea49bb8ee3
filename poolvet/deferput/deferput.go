// Package deferput has the check deferput of poolvet: deferred Puts that come too late or miss the object.
package deferput

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find deferred Puts in loops, and of slices that have grown since

A Put that is deferred in a loop puts nothing back before the function returns. One whose argument is a
slice puts back the slice that it was at the defer statement: what append has moved it to is lost.`

// Analyzer is the check.
var Analyzer = flow.Check("deferput", Doc)
