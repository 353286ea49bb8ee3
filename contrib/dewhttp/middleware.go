package dewhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/dewpond/dewpond"
)

// Options are for [Middleware]. The zero Options are ready to use.
type Options struct {
	Pool    *dewpond.BytePool // nil: dewpond.Default()
	MaxBody int64             // bytes of a request's body; 0: 1 MiB; negative: no limit
}

// Middleware returns a function that wraps a handler. In the handler and all that it
// calls, [ScopeOf] returns a Scope of the request, and [ReadBody] its body. Both end when
// the handler returns or panics.
//
// A handler inside may go on after the middleware has ended, as one behind
// [http.TimeoutHandler] does. It has a context of its own there, which is done by then. What
// was asked for with such a context is left to the collector, so that it never becomes another
// request's: behind a TimeoutHandler nothing is reused. Contexts that other middlewares derive
// do not matter, unless they are cancelled too. What was asked for with the middleware's own
// context, and is carried into a TimeoutHandler by a closure, in a context or as the request's
// Body, is reused while a handler there goes on: ask inside it, or carry a copy.
//
// A request that declares a body of more than MaxBody bytes is answered with status 413,
// and the handler does not run. Reading more than MaxBody bytes of any other body fails
// with an [http.MaxBytesError].
func Middleware(o Options) func(http.Handler) http.Handler {
	o.Pool = orDefault(o.Pool)
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 20
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limited := o.MaxBody > 0 && r.Body != nil && r.Body != http.NoBody
			if limited && r.ContentLength > o.MaxBody {
				Error(w, &http.MaxBytesError{Limit: o.MaxBody})
				return
			}
			m := &memory{Context: r.Context(), pool: o.Pool}
			defer m.end()
			r = r.WithContext(m)
			if limited {
				r.Body = http.MaxBytesReader(w, r.Body, o.MaxBody)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// A memory is a request's context, and all that the request has of the pool. It is made
// for each request and not pooled, because a context may outlive the handler.
type memory struct {
	context.Context
	pool *dewpond.BytePool

	// mu is held for one look: what a handler asks for and the end of the middleware may
	// come at once, if the handler outlives it.
	mu    sync.Mutex
	scope *dewpond.Scope // nil: not asked for yet
	body  []byte         // nil: not read yet
	err   error          // of reading the body
	ended bool

	// asked has what is closed when a context is done with which the scope or the body was
	// asked for, unless it is done with m.
	asked []<-chan struct{}
}

type memoryKey struct{}

// Value returns the memory itself for memoryKey.
func (m *memory) Value(key any) any {
	if key == (memoryKey{}) {
		return m
	}
	return m.Context.Value(key)
}

// end gives back what the request has, or leaves it to the collector if somebody who was
// given it may still use it.
func (m *memory) end() {
	m.mu.Lock()
	scope, body, asked := m.scope, m.body, m.asked
	m.scope, m.body, m.asked, m.ended = nil, nil, nil, true
	m.mu.Unlock()
	for _, done := range asked {
		select {
		case <-done:
			return
		default:
		}
	}
	if scope != nil {
		defer scope.Close()
	}
	m.pool.Put(body)
}

// lock locks m for a call that asks with ctx, and notes that it does. It panics after the end,
// without the lock.
func (m *memory) lock(ctx context.Context, method string) {
	m.mu.Lock()
	if m.ended {
		m.mu.Unlock()
		panic("dewhttp: " + method + " after the handler has returned: its memory has another owner")
	}
	if done := ctx.Done(); done != nil && done != m.Done() && !slices.Contains(m.asked, done) {
		m.asked = append(m.asked, done)
	}
}

func memoryOf(ctx context.Context, method string) *memory {
	m, _ := ctx.Value(memoryKey{}).(*memory)
	if m == nil {
		panic("dewhttp: " + method + " of a request that is not inside Middleware: wrap the handler, and ask before it returns")
	}
	return m
}

// ScopeOf returns the Scope of the request that ctx belongs to. Only the handler's
// goroutine may use it. ScopeOf panics if the request did not come through [Middleware],
// and after the handler has returned.
func ScopeOf(ctx context.Context) *dewpond.Scope {
	m := memoryOf(ctx, "ScopeOf")
	m.lock(ctx, "ScopeOf")
	defer m.mu.Unlock()
	if m.scope == nil {
		m.scope = m.pool.Scope()
	}
	return m.scope
}

// ReadBody reads all of a request's body into a block, and returns it, or the same bytes
// if it was called before. They are valid until the handler returns. Only the handler's
// goroutine may call it. A request without a body has an empty one. An error, such as an
// [http.MaxBytesError], goes to [Error]:
//
//	body, err := dewhttp.ReadBody(r)
//	if err != nil {
//		dewhttp.Error(w, err)
//		return
//	}
//
// ReadBody panics as [ScopeOf] does.
func ReadBody(r *http.Request) ([]byte, error) {
	m := memoryOf(r.Context(), "ReadBody")
	m.lock(r.Context(), "ReadBody")
	body, err := m.body, m.err
	m.mu.Unlock()
	if body != nil || err != nil {
		return body, err
	}
	if r.Body == nil {
		return []byte{}, nil
	}
	body, err = m.pool.ReadAll(declared{r.Body, r.ContentLength})
	if err != nil {
		m.pool.Put(body)
		body = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ended { // otherwise the collector has it when this handler, which outlives it, is done
		m.body, m.err = body, err
	}
	return body, err
}

// mostTrusted is how much memory a request gets because it says that it will send as much.
const mostTrusted = 64 << 10

// A declared has a method Len, so that BytePool.ReadAll takes one block for what it says.
type declared struct {
	io.Reader
	length int64
}

func (d declared) Len() int { return int(max(0, min(d.length, mostTrusted))) }

// Error answers for an error of [ReadBody]: with status 413 if the body is too large, and
// otherwise 400.
func Error(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
	}
	http.Error(w, http.StatusText(status), status)
}
