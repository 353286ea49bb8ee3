package dewhttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
)

// A watched body comes in pieces, between which others come, and checks the Budget before each.
type watched struct {
	t      *testing.T
	rest   []byte
	budget *dewpond.Budget
}

func (w *watched) Read(p []byte) (int, error) {
	if used := w.budget.Used(); used > w.budget.Limit() {
		w.t.Errorf("%d bytes of %d are charged", used, w.budget.Limit())
	}
	if len(w.rest) == 0 {
		return 0, io.EOF
	}
	runtime.Gosched()
	n := copy(p, w.rest[:min(len(w.rest), 16<<10)])
	w.rest = w.rest[n:]
	return n, nil
}

// A silent body sends nothing until it is released, and then breaks off.
type silent struct {
	begun    func()
	released <-chan bool
}

func (s silent) Read([]byte) (int, error) {
	s.begun()
	<-s.released
	return 0, io.ErrUnexpectedEOF
}

// 32 bodies of 1 MiB at a Budget of 4 MiB, alone and beside clients that announce as much and
// send nothing.
func TestBodiesStayWithinTheBudget(t *testing.T) {
	const size, limit, bodies = 1 << 20, 4 << 20, 32
	content := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	for _, full := range []dewhttp.WhenFull{dewhttp.Wait, dewhttp.Refuse} {
		for _, declared := range []bool{true, false} {
			for _, quiet := range []int{0, 8} {
				budget := dewpond.MustBudget("bodies", limit)
				pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies", Budget: budget})
				var read sync.WaitGroup
				read.Add(bodies)
				handler := dewhttp.Middleware(dewhttp.Options{Pool: pool, WhenFull: full})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := dewhttp.ReadBody(r)
					if r.Header.Get("Silent") == "" {
						read.Done()
					}
					if err != nil {
						dewhttp.Error(w, err)
						return
					}
					if full == dewhttp.Refuse { // which makes nobody wait: so all that are served have their bodies at once
						read.Wait()
					}
					if !bytes.Equal(body, content) {
						t.Errorf("a body of %d bytes is another", len(body))
					}
				}))
				serve := func(ctx context.Context, body io.Reader, header http.Header) *http.Response {
					r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", body)
					r.Header = header
					if declared {
						r.ContentLength = size
					}
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, r)
					return w.Result()
				}

				var begun, over sync.WaitGroup
				released := make(chan bool)
				begun.Add(quiet)
				for range quiet {
					over.Go(func() {
						if res := serve(t.Context(), silent{sync.OnceFunc(begun.Done), released}, http.Header{"Silent": {"yes"}}); res.StatusCode != http.StatusBadRequest {
							t.Errorf("a body that does not come is answered with status %d", res.StatusCode)
						}
					})
				}
				begun.Wait()

				var mu sync.Mutex
				answers := map[int]int{}
				var wg sync.WaitGroup
				for range bodies {
					wg.Go(func() {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						res := serve(ctx, &watched{t, content, budget}, http.Header{})
						if ctx.Err() != nil || (res.StatusCode == http.StatusServiceUnavailable) != (res.Header.Get("Retry-After") == "1") {
							t.Errorf("status %d, Retry-After %q, %v", res.StatusCode, res.Header.Get("Retry-After"), ctx.Err())
						}
						mu.Lock()
						defer mu.Unlock()
						answers[res.StatusCode]++
					})
				}
				wg.Wait()
				close(released)
				over.Wait()
				t.Logf("WhenFull %d, Content-Length %t, %d silent clients: answers %v", full, declared, quiet, answers)
				if ok := answers[http.StatusOK]; ok < 2 || ok+answers[http.StatusServiceUnavailable] != bodies {
					t.Errorf("WhenFull %d, Content-Length %t, %d silent clients: answers %v", full, declared, quiet, answers)
				}
				if s := pool.Stats(); s.OverBudget != 0 || s.InUseBytes != 0 {
					t.Error(s)
				}
				pool.Close()
			}
		}
	}
}

// By default no body is refused, as before there were other ways.
func TestExceed(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Budget: dewpond.MustBudget(t.Name(), 1000)})
	defer pool.Close()
	w := httptest.NewRecorder()
	dewhttp.Middleware(dewhttp.Options{Pool: pool})(http.HandlerFunc(echo)).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 5000))))
	if s := pool.Stats(); w.Code != http.StatusOK || w.Body.Len() != 5000 || s.OverBudget == 0 || s.InUseBytes != 0 {
		t.Errorf("status %d, %d bytes, %v", w.Code, w.Body.Len(), s)
	}
}

// refusing is a Middleware whose pool has no memory, and its Pool.
func refusing(t *testing.T, o dewhttp.Options) (func(http.Handler) http.Handler, *dewpond.BytePool) {
	o.Pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "small", Budget: dewpond.MustBudget("small", 64)})
	t.Cleanup(func() { o.Pool.Close() })
	return dewhttp.Middleware(o), o.Pool
}

func TestRefused(t *testing.T) {
	for _, hook := range []bool{false, true} {
		for _, full := range []dewhttp.WhenFull{dewhttp.Wait, dewhttp.Refuse} { // what is larger than the Budget does not wait
			o := dewhttp.Options{WhenFull: full}
			if hook {
				o.Refused = func(w http.ResponseWriter, r *http.Request, err error) {
					w.WriteHeader(http.StatusTooManyRequests)
					fmt.Fprint(w, r.URL.Path, errors.Is(err, dewpond.ErrExhausted))
				}
			}
			wrap, pool := refusing(t, o)
			var errs [2]error
			w := httptest.NewRecorder()
			wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for i := range errs {
					_, errs[i] = dewhttp.ReadBody(r)
				}
				dewhttp.Error(w, errs[0])
			})).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/path", strings.NewReader(strings.Repeat("x", 5000))))
			code, body, after := http.StatusServiceUnavailable, "Service Unavailable\n", "1"
			if hook {
				code, body, after = http.StatusTooManyRequests, "/pathtrue", ""
			}
			if w.Code != code || w.Body.String() != body || w.Header().Get("Retry-After") != after {
				t.Errorf("status %d, %q, Retry-After %q", w.Code, w.Body, w.Header().Get("Retry-After"))
			}
			if !errors.Is(errs[0], dewpond.ErrExhausted) || errs[1] != errs[0] || !strings.Contains(errs[0].Error(), pool.Name()) {
				t.Errorf("%v, and again %v", errs[0], errs[1])
			}
			if s := pool.Stats(); s.OverBudget != 0 || s.InUseBytes != 0 {
				t.Error(s)
			}
		}
	}
}

// A piece of a Scope that is refused can be answered as a body is.
func TestScopeIsRefused(t *testing.T) {
	wrap, _ := refusing(t, dewhttp.Options{})
	w := httptest.NewRecorder()
	wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := dewhttp.ScopeOf(r.Context()).TryGet(5000); err != nil {
			dewhttp.Error(w, err)
		}
	})).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, %v", w.Code, w.Header())
	}
}
