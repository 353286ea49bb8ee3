package memory

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

type object struct{ text string }

func (o *object) Reset() { o.text = "" }

// Every kind of memory does the same: buffers begin empty, a payload arrives whole and can be sent
// again, and an object comes without what it was used for.
func TestKinds(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		io.Copy(w, r.Body)
	}
	for _, kind := range []string{Dewpond, SyncPool, None} {
		t.Run(kind, func(t *testing.T) {
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
			defer pool.Close()
			s, err := Of(kind, pool)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(echo))
			defer server.Close()
			var asking sync.WaitGroup
			for i := range 8 {
				asking.Go(func() {
					for j := range 50 {
						text := strings.Repeat(string(rune('a'+i)), 100+j)
						if got, err := ask(s, server, text); err != nil || got != text {
							t.Errorf("%q, %v, want %q", got, err, text)
						}
					}
				})
			}
			asking.Wait()
			objects, closed := PoolOf(kind, dewpond.PoolOptions[object]{Name: t.Name()})
			for range 100 {
				o := objects.Get()
				if o.text != "" {
					t.Fatalf("an object comes with %q", o.text)
				}
				o.text = "used"
				objects.Put(o)
			}
			if err := closed(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := Of("stack", nil); err == nil || !strings.Contains(err.Error(), "dewpond, sync.Pool or none") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// ask sends a text by way of a redirect, and returns the answer.
func ask(s Source, server *httptest.Server, text string) (string, error) {
	question := s.Buffer()
	defer question.Release()
	question.Grow(len(text))
	question.Write(append(question.AvailableBuffer(), text...))
	payload := s.Payload(question)
	defer payload.Close()
	r, err := payload.NewRequest(context.Background(), http.MethodPost, server.URL+"/again")
	if err != nil {
		return "", err
	}
	res, err := server.Client().Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer := s.Buffer()
	defer answer.Release()
	_, err = answer.ReadFrom(res.Body)
	return string(answer.Bytes()), err
}
