// Package useafterput has the check useafterput of poolvet: what is used after its Put.
package useafterput

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find what is used after its Put

What was put into a pool may have another owner at once. A read sees that owner's bytes, and
a write is seen by it. The check follows the object, its fields, slices of it and what
Bytes returns along each way on from the Put, through variables, fields and closures.`

// Analyzer is the check.
var Analyzer = flow.Check("useafterput", Doc)
