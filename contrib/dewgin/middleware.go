package dewgin

import (
	"errors"
	"net/http"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/gin-gonic/gin"
)

// Middleware returns a handler that gives the handlers after it a [Scope] and a [Body]:
//
//	router.Use(dewgin.Middleware(dewhttp.Options{Pool: pool}))
//
// A request that declares a body of more than MaxBody bytes is aborted with status 413. What
// [dewhttp.WhenFull] says holds here too.
func Middleware(o dewhttp.Options) gin.HandlerFunc {
	wrap := dewhttp.Middleware(o)
	return func(c *gin.Context) {
		entered := false
		wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			entered = true
			outer := c.Request
			defer func() { c.Request = outer }()
			c.Request = r
			c.Next()
		})).ServeHTTP(c.Writer, c.Request)
		if !entered {
			c.Abort()
		}
	}
}

// Scope returns the Scope of the request. It panics without [Middleware].
func Scope(c *gin.Context) *dewpond.Scope { return dewhttp.ScopeOf(c.Request.Context()) }

// Body reads the request's body into a block, which is valid until the handlers have
// returned, as [dewhttp.ReadBody] does. If that fails it aborts the request with status 413 or
// 400, or as [dewhttp.Error] answers where the pool had no memory, adds the error to the
// Context's errors, and returns false:
//
//	body, ok := dewgin.Body(c)
//	if !ok {
//		return
//	}
func Body(c *gin.Context) (body []byte, ok bool) {
	body, err := dewhttp.ReadBody(c.Request)
	if err == nil {
		return body, true
	}
	if errors.Is(err, dewpond.ErrExhausted) {
		dewhttp.Error(c.Writer, err)
		c.Abort()
		c.Error(err).SetType(gin.ErrorTypeBind)
		return nil, false
	}
	status := http.StatusBadRequest
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
	}
	c.AbortWithError(status, err).SetType(gin.ErrorTypeBind)
	return nil, false
}
