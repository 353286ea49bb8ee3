// Package scope has the check scope of poolvet: pieces that outlive their scope.
package scope

import "github.com/dewpond/dewpond/poolvet/internal/flow"

// Doc is the analyzer's documentation.
const Doc = `find pieces of a scope that outlive its Close

They are returned, stored, sent or captured by a goroutine, or the scope is used after Close.`

// Analyzer is the check.
var Analyzer = flow.Check("scope", Doc)
