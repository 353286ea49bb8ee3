// Package intake bounds what clients can make the service wait for, or begin in vain: bodies that
// do not come, requests that are taken back, and how much of a resource one client has at once.
package intake

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Pace gives bodies their time: Grace, and a second for each PerSecond bytes. A body that says
// how long it is has the time for all of that from its first read on. One that does not say it has
// the time for what has come; and so has every body while somebody waits: see [Pace.Hurry].
type Pace struct {
	Grace     time.Duration
	PerSecond int64

	waiting atomic.Int32 // for what those that are read have
	mu      sync.Mutex   // held for a change of bodies, and while they are hurried
	bodies  map[*body]struct{}
}

// Usual is a Pace of 1 s, and a second for each 64 KiB.
func Usual() *Pace { return &Pace{Grace: time.Second, PerSecond: 64 << 10} }

// A SlowError says that a body did not come in its time.
type SlowError struct{ PerSecond int64 }

func (e *SlowError) Error() string {
	return fmt.Sprintf("the body comes too slowly: send %d bytes a second or more", e.PerSecond)
}

// leftover is how much of a body that no handler has read net/http reads itself.
const leftover = 256 << 10

// Handler has each read of a body end in its time, with a [SlowError].
func (p *Pace) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{ReadCloser: r.Body, pace: p, control: http.NewResponseController(w), length: r.ContentLength}
		b.rest(r)
		p.add(b)
		defer func() {
			p.remove(b)
			b.rest(r)
		}()
		read := *r // net/http goes by the body that it has made when it ends the answer
		read.Body = b
		next.ServeHTTP(w, &read)
	})
}

func (p *Pace) add(b *body) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bodies == nil {
		p.bodies = map[*body]struct{}{}
	}
	p.bodies[b] = struct{}{}
}

func (p *Pace) remove(b *body) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.bodies, b)
}

// Hurry gives bodies no more time than what has come of them is worth, until over is called: who
// waits for the memory that they fill does not wait for those that send nothing.
func (p *Pace) Hurry() (over func()) {
	if p.waiting.Add(1) == 1 {
		p.mu.Lock()
		defer p.mu.Unlock()
		for b := range p.bodies {
			b.mu.Lock()
			b.limit()
			b.mu.Unlock()
		}
	}
	return func() { p.waiting.Add(-1) }
}

func (p *Pace) worth(bytes int64) time.Duration {
	return p.Grace + time.Duration(float64(bytes)/float64(p.PerSecond)*float64(time.Second))
}

// A body is a request's while its handler runs. net/http forbids a deadline after that.
type body struct {
	io.ReadCloser
	pace    *Pace
	control *http.ResponseController
	length  int64 // negative: not known

	mu    sync.Mutex // held for a change of what follows
	begun time.Time  // zero: nobody reads it yet
	read  int64
	ended bool
}

// Read reads in the body's time.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.begun.IsZero() {
		b.begun = time.Now()
	}
	b.limit()
	b.mu.Unlock()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, &SlowError{b.pace.PerSecond}
	}
	if err != nil && !b.ended {
		b.ended = true
		b.control.SetReadDeadline(time.Time{}) // for what net/http reads to know when the client hangs up
	}
	return n, err
}

// limit sets the time at which reading ends. The caller holds mu.
func (b *body) limit() {
	if b.begun.IsZero() || b.ended {
		return
	}
	size := b.length
	if size < 0 || b.pace.waiting.Load() > 0 {
		size = b.read
	}
	b.control.SetReadDeadline(b.begun.Add(b.pace.worth(size)))
}

// rest gives net/http its time for what no handler reads. HTTP/2 has no need of it, and no way
// back from a deadline that has passed.
func (b *body) rest(r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.ProtoMajor > 1 || b.ended {
		return
	}
	size := int64(leftover)
	if b.length >= 0 {
		size = min(size, b.length-b.read)
	}
	b.control.SetReadDeadline(time.Now().Add(b.pace.worth(size)))
}
