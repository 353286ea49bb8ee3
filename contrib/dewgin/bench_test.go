package dewgin_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/turns"
	"github.com/gin-gonic/gin"
)

// BenchmarkBody is a handler that answers with a body of 64 KiB, with gin's GetRawData in
// turn.
func BenchmarkBody(b *testing.B) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	run := func(h http.Handler) func() {
		w := &discard{http.Header{}}
		return func() { h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(content))) }
	}
	theirs := gin.New()
	theirs.POST("/", func(c *gin.Context) {
		body, err := c.GetRawData()
		if err != nil {
			b.Error(err)
		}
		c.Data(http.StatusOK, "text/plain", bytes.Clone(body))
	})
	ours := newRouter(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()}), func() {})
	turns.Take(b, 300, run(ours), run(theirs))
}

// A discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (w *discard) Header() http.Header       { return w.header }
func (*discard) Write(b []byte) (int, error) { return len(b), nil }
func (*discard) WriteHeader(int)             {}
