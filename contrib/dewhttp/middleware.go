package dewhttp

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/internal/upload"
)

// Options are for [Middleware]. The zero Options are ready to use.
type Options struct {
	Pool    *dewpond.BytePool // nil: dewpond.Default()
	MaxBody int64             // bytes of a request's body; 0: 1 MiB; negative: no limit

	// WhenFull is what [ReadBody] does when the Pool's Budget or AllocRate leaves no memory for
	// a body (default [Exceed]).
	WhenFull WhenFull

	// Refused answers a request whose body was refused memory, when the handler calls [Error].
	// By default that is status 503 with the header Retry-After: 1. err wraps
	// [dewpond.ErrExhausted]. Refused is called by several goroutines at once.
	Refused func(w http.ResponseWriter, r *http.Request, err error)
}

// A WhenFull is what [ReadBody] does when the pool has no memory for a body. It bounds bodies
// only: a Scope's Get exceeds a Budget, and its TryGet returns [dewpond.ErrExhausted], which
// [Error] answers with status 503 too.
//
// With [Wait] and [Refuse], ReadBody takes a block of at most 64 KiB for the length that a client
// announces, and a larger one only when more bytes have come. A body that has begun, and is
// refused the next block, gives back what it has at once: ReadBody returns an error that wraps
// ErrExhausted. So that those that have begun can go on, a body that is longer than 64 KiB, or
// whose length is unknown, begins only while the bodies of this Middleware hold less than half of
// the Budget. So make one Middleware for all handlers that share a Budget, and give the Budget
// at least twice MaxBody: a body is copied to the next block as it grows.
type WhenFull uint8

const (
	// Exceed takes memory past the Budget, as [dewpond.BytePool.Get] does. [dewpond.Stats] counts
	// it in OverBudget.
	Exceed = WhenFull(upload.Exceed)

	// Wait waits, before it takes the first block, until there is memory or the request's
	// context is done. Requests wait in the order in which they came. The server's ReadTimeout
	// does not end the wait: give requests a context with a deadline.
	Wait = WhenFull(upload.Wait)

	// Refuse refuses at once.
	Refuse = WhenFull(upload.Refuse)
)

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
// with an [http.MaxBytesError]. Reading a body that ends before its Content-Length fails with
// [io.ErrUnexpectedEOF], and one without a Content-Length that ends after the request's context
// with the error of that context: it may have been cut off. A handler in front that decodes
// bodies sets ContentLength to -1, unless the request has a Content-Encoding.
//
// Middleware panics if o.WhenFull is none of the constants.
func Middleware(o Options) func(http.Handler) http.Handler {
	o.Pool = orDefault(o.Pool)
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 20
	}
	intake := upload.New(o.Pool, upload.WhenFull(o.WhenFull), "dewhttp: Options.WhenFull")
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			has := r.Body != nil && r.Body != http.NoBody
			limited := o.MaxBody > 0 && has
			if limited && r.ContentLength > o.MaxBody {
				Error(w, &http.MaxBytesError{Limit: o.MaxBody})
				return
			}
			m := &memory{Context: r.Context(), pool: o.Pool, intake: intake, refused: o.Refused}
			defer m.end()
			r = r.WithContext(m)
			if has {
				r.Body = sent{&upload.Whole{Ctx: m, Body: r.Body, Left: lengthOf(r)}, r.Body}
			}
			if limited {
				r.Body = http.MaxBytesReader(w, r.Body, o.MaxBody)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// A sent is a body that ends in an error if it is cut off.
type sent struct {
	io.Reader
	io.Closer
}

// lengthOf returns how many bytes the body of r has, or -1 if that is unknown.
func lengthOf(r *http.Request) int64 {
	if _, decoded := r.Body.(*gzip.Reader); decoded || r.Header.Get("Content-Encoding") != "" {
		return -1 // what decodes a body often leaves the length as it was; and it sees where the body ends
	}
	return r.ContentLength
}

// A memory is a request's context, and all that the request has of the pool. It is made
// for each request and not pooled, because a context may outlive the handler.
type memory struct {
	context.Context
	pool    *dewpond.BytePool
	intake  *upload.Intake
	refused func(http.ResponseWriter, *http.Request, error) // may be nil

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
			m.intake.Lose(body)
			return
		default:
		}
	}
	if scope != nil {
		defer scope.Close()
	}
	m.intake.Put(body)
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
// goroutine may call it. A request without a body has an empty one. An error goes to [Error]:
//
//	body, err := dewhttp.ReadBody(r)
//	if err != nil {
//		dewhttp.Error(w, err)
//		return
//	}
//
// It is an [http.MaxBytesError] for a body that is too large; [io.ErrUnexpectedEOF] for one that
// is shorter than its Content-Length; the error of the request's context for one without a
// Content-Length, if the context ended before the body did, because net/http does not say
// whether such a body was cut off; and an error that wraps [dewpond.ErrExhausted] for one that
// was refused memory: see [WhenFull].
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
	body, err = m.intake.Read(r.Context(), r.Body, r.ContentLength)
	if m.refused != nil && errors.Is(err, dewpond.ErrExhausted) {
		err = &refusal{err, r, m.refused}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended { // the collector has it when this handler, which outlives the middleware, is done
		m.intake.Lose(body)
	} else {
		m.body, m.err = body, err
	}
	return body, err
}

// A refusal is an error that Options.Refused answers.
type refusal struct {
	error
	r      *http.Request
	answer func(http.ResponseWriter, *http.Request, error)
}

func (e *refusal) Unwrap() error { return e.error }

// Error answers for an error of [ReadBody]: with status 413 if the body is too large; as
// [Options].Refused does, or with status 503 and Retry-After, if the pool had no memory; and
// otherwise with 400.
func Error(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
	} else if refused := (*refusal)(nil); errors.As(err, &refused) {
		refused.answer(w, refused.r, err)
		return
	} else if errors.Is(err, dewpond.ErrExhausted) {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, http.StatusText(status), status)
}
