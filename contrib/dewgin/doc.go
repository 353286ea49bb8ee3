// Package dewgin gives each request of gin a [dewpond.Scope] and a body in a block, as
// contrib/dewhttp does for net/http. Both end when the handlers have returned: a goroutine
// that outlives them must copy what it needs, as it must copy the gin.Context.
package dewgin
