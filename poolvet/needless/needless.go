// Package needless has the check needless of poolvet: pools of what one value would do for.
package needless

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find pools of what nothing writes

An object that nobody writes, as configuration or a value without state, can be shared by all.
A pool of such objects costs time and saves nothing. Only objects of the package's own types
are looked at. The check runs on request.`

// Analyzer is the check.
var Analyzer = flow.Check("needless", Doc)
