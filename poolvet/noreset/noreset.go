// Package noreset has the check noreset of poolvet: objects that keep what their last owner left.
package noreset

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find objects of sync.Pool that are reset neither before Put nor after Get

The next owner finds what the last one left in a field. Only pools whose Gets and Puts are
all in one package are looked at. The check runs on request, because many objects have all that
is read of them written first.`

// Analyzer is the check.
var Analyzer = flow.Check("noreset", Doc)
