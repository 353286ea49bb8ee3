// Package ignore has the check ignore of poolvet: comments that silence a check.
package ignore

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find //poolvet:ignore without a reason, or that silences nothing

//poolvet:ignore doubleput the retry owns it
silences one check on its line and on the next.`

// Analyzer is the check.
var Analyzer = flow.Check("ignore", Doc)
