package dewecho

import (
	"errors"
	"net/http"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/labstack/echo/v5"
)

// Middleware returns a middleware that gives handlers a [Scope] and a [Body]:
//
//	e.Use(dewecho.Middleware(dewhttp.Options{Pool: pool}))
//
// A request that declares a body of more than MaxBody bytes ends in
// [echo.ErrStatusRequestEntityTooLarge], and the handler does not run. If the handler returns an
// error that wraps [dewpond.ErrExhausted], o.Refused answers, and Middleware returns nil. Without
// Refused it sets the header Retry-After and returns the error, which echo's HTTPErrorHandler
// answers. What [dewhttp.WhenFull] says holds here too.
func Middleware(o dewhttp.Options) echo.MiddlewareFunc {
	wrap := dewhttp.Middleware(o)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			var err error = echo.ErrStatusRequestEntityTooLarge // unless the handler runs
			outer := c.Request()
			defer c.SetRequest(outer)
			wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				c.SetRequest(r)
				if err = next(c); !errors.Is(err, dewpond.ErrExhausted) {
					return
				}
				if o.Refused == nil {
					c.Response().Header().Set("Retry-After", "1")
					return
				}
				o.Refused(c.Response(), r, err)
				err = nil
			})).ServeHTTP(silent{c.Response()}, outer)
			return err
		}
	}
}

// A silent writes nothing: echo answers for an error.
type silent struct{ http.ResponseWriter }

func (silent) Write(b []byte) (int, error) { return len(b), nil }
func (silent) WriteHeader(int)             {}

// Scope returns the Scope of the request. It panics without [Middleware], and after it has
// ended, as in an HTTPErrorHandler.
func Scope(c *echo.Context) *dewpond.Scope { return dewhttp.ScopeOf(c.Request().Context()) }

// Body reads the request's body into a block, which is valid until the handler returns, as
// [dewhttp.ReadBody] does. Its error is for the handler to return: its status is 413, 503 where
// the pool had no memory, or 400.
func Body(c *echo.Context) ([]byte, error) {
	body, err := dewhttp.ReadBody(c.Request())
	switch large := (*http.MaxBytesError)(nil); {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, echo.ErrStatusRequestEntityTooLarge.Wrap(err)
	case errors.Is(err, dewpond.ErrExhausted):
		return nil, echo.ErrServiceUnavailable.Wrap(err)
	}
	return nil, echo.ErrBadRequest.Wrap(err)
}
