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

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
)

// Every source does the same: buffers begin empty, a payload arrives whole and can be sent again, a
// Context comes without what it was used for, and a Pad has the room that was asked for.
func TestSources(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		io.Copy(w, r.Body)
	}
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer pool.Close()
	for name, s := range map[string]Source{"dewpond": Dewpond(pool), "sync.Pool": SyncPool(), "none": None()} {
		t.Run(name, func(t *testing.T) {
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
			for range 100 {
				c := s.Context()
				if len(c.Candidates) > 0 || len(c.Filters) > 0 {
					t.Fatalf("a Context comes with %+v", c)
				}
				c.Candidates = append(c.Candidates, matching.Candidate{Name: "used"})
				c.Filter(matching.Not, 7)
				s.PutContext(c)
			}
			for n := range matching.Most + 1 {
				p := s.Pad(n)
				if len(p.People) != n || len(p.Scores) != n {
					t.Errorf("a Pad for %d candidates has %d people and %d scores", n, len(p.People), len(p.Scores))
				}
				p.Close()
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if n := pool.Stats().InUseBytes; n != 0 {
		t.Errorf("%d bytes were not given back", n)
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
