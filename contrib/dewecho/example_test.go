package dewecho_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewecho"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/labstack/echo/v5"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	e := echo.New()
	e.Use(dewecho.Middleware(dewhttp.Options{Pool: pool, MaxBody: 8}))
	e.POST("/", func(c *echo.Context) error {
		body, err := dewecho.Body(c)
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "text/plain", dewecho.Scope(c).Copy(body))
	})
	for _, body := range []string{"hello", "a long body"} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 hello
	// 413 {"message":"Request Entity Too Large"}
}
