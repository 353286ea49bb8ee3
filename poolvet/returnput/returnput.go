// Package returnput has the check returnput of poolvet: what is given away although a deferred Put gives it back.
package returnput

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find what is returned, stored or sent although a deferred Put puts it back

The caller gets memory that the pool hands to somebody else. Return a copy, or let the
caller put it back.`

// Analyzer is the check.
var Analyzer = flow.Check("returnput", Doc)
