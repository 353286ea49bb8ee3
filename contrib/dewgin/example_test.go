package dewgin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewgin"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/gin-gonic/gin"
)

func init() { gin.SetMode(gin.ReleaseMode) }

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	router := gin.New()
	router.Use(dewgin.Middleware(dewhttp.Options{Pool: pool, MaxBody: 8}))
	router.POST("/", func(c *gin.Context) {
		if body, ok := dewgin.Body(c); ok {
			c.Data(http.StatusOK, "text/plain", append(dewgin.Scope(c).Get(64)[:0], body...))
		}
	})
	for _, body := range []string{"hello", "a long body"} {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 hello
	// 413 Request Entity Too Large
}
