// Package upload is how the web adapters of contrib read the body of a request: whole or with
// an error, and within a pool's Budget if that is asked for.
//
// # Why bodies are served when the Budget is full
//
// A body grows from block to block, so many bodies that have begun can fill the Budget, and then
// none of them can go on. Three rules prevent that:
//
//   - A body that may outgrow its first block begins only while bodies hold less than half of
//     the Budget. The other half is for those that have begun.
//   - A body waits only before it begins, when it holds nothing. One that has begun and is
//     refused a block gives back what it has in the same step, under the lock. So when a body is
//     refused, what is in use belongs to bodies that were not: the last one that is refused
//     leaves others that are served.
//   - Of the waiting bodies that may grow, only the first waits in the Budget's own queue: bytes
//     for which a call waits there cannot be had by TryGet, which is how bodies grow.
//
// Only what bodies hold counts, not what clients have announced. So clients that announce much
// and send nothing hold up others no more than by their first blocks.
package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/dewpond/dewpond"
)

// A WhenFull is what happens to a body for which the pool has no memory.
type WhenFull uint8

const (
	Exceed WhenFull = iota // it gets memory all the same, as from BytePool.Get
	Wait                   // it waits before it begins, and is refused later
	Refuse                 // it is refused
)

const (
	least = 512 // bytes of the first block of a body whose length is unknown

	// mostTrusted is how many bytes a request gets because it says that it will send as many.
	mostTrusted = 64 << 10
)

// An Intake reads bodies into blocks of one pool. All methods may be called by several
// goroutines at once.
type Intake struct {
	pool *dewpond.BytePool
	full WhenFull
	half int64 // of the Budget, in bytes; the largest number there is without a Budget

	turn chan struct{} // has an element while a body is the first in line
	less chan struct{} // has an element if held may have become less since the first in line looked

	// mu is held for a change of held together with the call of the pool that causes it. Such a
	// call does not wait.
	mu   sync.Mutex
	held int64 // bytes in the blocks of all bodies, and what the first in line is about to get
}

// New returns an Intake. It panics if full is none of the constants; where names the option.
func New(pool *dewpond.BytePool, full WhenFull, where string) *Intake {
	if full > Refuse {
		panic(fmt.Sprintf("%s is %d: it must be Exceed, Wait or Refuse", where, full))
	}
	i := &Intake{pool: pool, full: full, half: math.MaxInt64, turn: make(chan struct{}, 1), less: make(chan struct{}, 1)}
	if limit := pool.Stats().Budget.Limit; limit > 0 {
		i.half = limit / 2
	}
	return i
}

// Read reads all of r into a block, which the caller gives to [Intake.Put] or [Intake.Lose], also
// if it is empty. declared is the length that the client has announced; negative: it has
// announced none. An error that wraps [dewpond.ErrExhausted] says that the pool had no memory.
// A body without a length whose context has ended was perhaps cut off: Read returns the error of
// ctx. With an error Read returns no block. If r panics, the block goes back.
func (i *Intake) Read(ctx context.Context, r io.Reader, declared int64) ([]byte, error) {
	b, err := i.read(ctx, r, declared)
	if err == nil && declared < 0 {
		err = ctx.Err()
	}
	if err != nil {
		i.Put(b)
		return nil, err
	}
	return b, nil
}

// read is Read that returns a block also with an error.
func (i *Intake) read(ctx context.Context, r io.Reader, declared int64) (b []byte, err error) {
	if i.full == Exceed {
		return i.pool.ReadAll(announced{r, declared})
	}
	first := int64(least)
	if declared >= 0 {
		first = min(declared, mostTrusted)
	}
	if b, err = i.begin(ctx, int(first), declared != first); err != nil {
		return nil, i.refusal(0, err)
	}
	b = b[:0]
	done := false
	defer func() {
		if !done {
			i.Put(b)
		}
	}()
	for err == nil {
		room := b[len(b):cap(b)]
		full := len(room) == 0
		if full { // take nothing before a byte has come that needs it
			room = make([]byte, 1)
		}
		var n int
		n, err = r.Read(room)
		switch {
		case n < 0 || n > len(room):
			panic(fmt.Sprintf("dewpond: reading a body: Read returned %d for %d bytes", n, len(room)))
		case full && n > 0:
			size := max(2*cap(b), least)
			if declared > int64(len(b)) {
				size = int(min(int64(size), declared))
			}
			old := b
			b = nil
			larger, refused := i.larger(old, size)
			if refused != nil {
				return nil, i.refusal(len(old), refused)
			}
			b = append(append(larger[:0], old...), room...)
			i.pool.Put(old)
		default:
			b = b[:len(b)+n]
		}
	}
	done = true
	if err == io.EOF {
		err = nil
	}
	return b, err
}

// announced has a method Len, so that BytePool.ReadAll takes one block for what the client has
// announced, up to mostTrusted.
type announced struct {
	io.Reader
	length int64
}

func (a announced) Len() int { return int(max(0, min(a.length, mostTrusted))) }

// refusal returns the error of a body of which n bytes have come, when the pool has answered with
// err.
func (i *Intake) refusal(n int, err error) error {
	if !errors.Is(err, dewpond.ErrExhausted) { // such as the system's error, off the heap
		err = fmt.Errorf("%w: %w", dewpond.ErrExhausted, err)
	}
	return fmt.Errorf("dewpond: pool %q has no memory for a request's body, of which %d bytes have come: %w", i.pool.Name(), n, err)
}

// begin returns the first block of a body, which has n bytes. grows says that the body may need
// more.
func (i *Intake) begin(ctx context.Context, n int, grows bool) (b []byte, err error) {
	if i.full == Refuse {
		i.mu.Lock()
		defer i.mu.Unlock()
		if grows && !i.roomLocked(n) {
			return nil, dewpond.ErrExhausted
		}
		b, err = i.pool.TryGet(n)
		i.held += int64(cap(b))
		return b, err
	}
	reserved := 0
	if grows {
		if err := i.awaitTurn(ctx, n); err != nil {
			return nil, fmt.Errorf("%w: %w", dewpond.ErrExhausted, err)
		}
		defer func() { <-i.turn }()
		reserved = n
	}
	defer func() { i.add(cap(b) - reserved) }()
	return i.pool.GetContext(ctx, n)
}

// awaitTurn waits until the body is the first in line and may begin, and adds n to what is held.
// The caller ends its turn, unless it gets an error, which is that of ctx.
func (i *Intake) awaitTurn(ctx context.Context, n int) error {
	select {
	case i.turn <- struct{}{}:
	default:
		select {
		case i.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for !i.reserve(n) {
		select {
		case <-i.less:
		case <-ctx.Done():
			<-i.turn
			return ctx.Err()
		}
	}
	return nil
}

// reserve adds n to what is held if a body that may grow may begin with n bytes.
func (i *Intake) reserve(n int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.roomLocked(n) {
		return false
	}
	i.held += int64(n)
	return true
}

// roomLocked reports whether a body that may grow may begin with n bytes. One may always.
func (i *Intake) roomLocked(n int) bool { return i.held == 0 || i.held+int64(n) <= i.half }

// add adds n, which may be negative, to what is held.
func (i *Intake) add(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.addLocked(n)
}

func (i *Intake) addLocked(n int) {
	i.held += int64(n)
	if n < 0 {
		select {
		case i.less <- struct{}{}:
		default:
		}
	}
}

// larger returns a block of n bytes for a body that has b, or puts b back. What bodies hold is
// counted as if the caller had put b back already.
func (i *Intake) larger(b []byte, n int) (larger []byte, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	defer func() { // also if TryGet panics
		i.addLocked(cap(larger) - cap(b))
		if larger == nil {
			i.pool.Put(b)
		}
	}()
	return i.pool.TryGet(n)
}

// Put gives a body back. b may be nil.
func (i *Intake) Put(b []byte) {
	if i.full == Exceed {
		i.pool.Put(b)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.addLocked(-cap(b))
	i.pool.Put(b)
}

// Lose leaves a body to the garbage collector, because a goroutine may still use it. b may be
// nil.
func (i *Intake) Lose(b []byte) {
	if i.full != Exceed {
		i.add(-cap(b))
	}
}
