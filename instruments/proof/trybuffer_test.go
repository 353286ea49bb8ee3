package proof

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dewpond/dewpond"
)

// A tried is a Buffer of TryBuffer on a pool with a Budget, what it must hold, and the blocks of
// another user of the pool.
type tried struct {
	*dewpond.Buffer
	pool   *dewpond.BytePool
	budget *dewpond.Budget
	holds  []byte
	others [][]byte
}

// triedClasses are a pool's classes, and the largest.
var triedClasses = []int{64, 256, 1024, 4096}

const triedLargest = 4096

// TestTryBufferObeysItsBudget checks that a write which is refused leaves everything as it
// was, that it is refused only where TryGet is, and that the Budget is never exceeded.
func TestTryBufferObeysItsBudget(t *testing.T) {
	var written, refused int
	for min(written, refused) < 3000 && !t.Failed() {
		rapid.Check(t, func(t *rapid.T) {
			budget := dewpond.MustBudget("", rapid.SampledFrom([]int64{1, 64, 700, 3000, 9000, 20_000}).Draw(t, "budget"))
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Classes: triedClasses, Budget: budget})
			defer pool.Close()
			w := &tried{Buffer: pool.TryBuffer(), pool: pool, budget: budget}
			t.Repeat(map[string]func(*rapid.T){
				"write": func(t *rapid.T) {
					if w.write(t) {
						written++
					} else {
						refused++
					}
				},
				"readFrom": w.readFrom,
				"next": func(t *rapid.T) {
					n := rapid.IntRange(0, len(w.holds)).Draw(t, "n")
					if got := w.Next(n); !bytes.Equal(got, w.holds[:n]) {
						t.Fatalf("Next(%d) returned %.100q, want %.100q", n, got, w.holds[:n])
					}
					w.holds = w.holds[n:]
				},
				"release": func(*rapid.T) {
					w.Release()
					w.holds = nil
				},
				"get": func(t *rapid.T) {
					if b, err := pool.TryGet(rapid.IntRange(1, 6000).Draw(t, "size")); err == nil {
						w.others = append(w.others, b)
					}
				},
				"put": func(t *rapid.T) {
					if len(w.others) > 0 {
						pool.Put(w.others[0])
						w.others = w.others[1:]
					}
				},
				"": w.check,
			})
		})
	}
	t.Logf("%d writes were made and %d refused", written, refused)
}

func (w *tried) check(t *rapid.T) {
	if !bytes.Equal(w.Bytes(), w.holds) {
		t.Fatalf("holds %d bytes %.100q, want %d %.100q", w.Len(), w.Bytes(), len(w.holds), w.holds)
	}
	if used := w.budget.Used(); used > w.budget.Limit() || w.pool.Stats().OverBudget != 0 {
		t.Fatalf("the Budget of %d has %d in use", w.budget.Limit(), used)
	}
}

// write makes one write, or a Grow, and reports whether it was not refused.
func (w *tried) write(t *rapid.T) bool {
	p := piece(t)
	n, room, before := len(p), w.Available(), w.pool.Stats().Refused
	var err error
	switch rapid.SampledFrom([]string{"Write", "WriteString", "WriteByte", "WriteRune", "TryGrow", "itself"}).Draw(t, "call") {
	case "Write":
		n, err = w.Write(p)
	case "WriteString":
		n, err = w.WriteString(string(p))
	case "WriteByte":
		p = []byte{'x'}
		if err = w.WriteByte('x'); err == nil {
			n = 1
		} else {
			n = 0
		}
	case "WriteRune":
		r := anyRune(t)
		p = utf8.AppendRune(nil, r)
		n, err = w.WriteRune(r)
	case "TryGrow":
		if err = w.TryGrow(n); err == nil && w.Available() < n {
			t.Fatalf("TryGrow(%d) left room for %d", n, w.Available())
		}
		if err == nil {
			return true
		}
		n = 0
	case "itself":
		p = bytes.Clone(w.holds[len(w.holds)/2:])
		n, err = w.Write(w.Bytes()[len(w.holds)/2:])
	}
	if err == nil {
		if n != len(p) {
			t.Fatalf("a write of %d bytes returned %d", len(p), n)
		}
		w.holds = slices.Concat(w.holds, p)
		return true
	}
	if n != 0 || !errors.Is(err, dewpond.ErrExhausted) || len(p) <= room {
		t.Fatalf("a write of %d bytes with room for %d returned %d, %v", len(p), room, n, err)
	}
	if counted := w.pool.Stats().Refused - before; counted != 1 {
		t.Fatalf("a refused write is counted %d times", counted)
	}
	least := len(w.holds) + len(p)
	if least > triedLargest {
		least = max(least, w.Cap()+w.Cap()/8)
	}
	if b, err := w.pool.TryGet(least); err == nil {
		w.pool.Put(b)
		t.Fatalf("a write of %d bytes to %d was refused, where TryGet(%d) is not", len(p), len(w.holds), least)
	}
	return false
}

// readFrom checks that a ReadFrom that is refused keeps and counts what it has read, and
// reads no more than it keeps.
func (w *tried) readFrom(t *rapid.T) {
	from := piece(t)
	r := bytes.NewReader(from)
	var source io.Reader = r
	switch rapid.SampledFrom([]string{"all", "half", "one"}).Draw(t, "reader") {
	case "half":
		source = iotest.HalfReader(r)
	case "one":
		source = iotest.OneByteReader(r)
	}
	n, err := w.ReadFrom(source)
	read := len(from) - r.Len()
	switch {
	case int(n) != read:
		t.Fatalf("ReadFrom counted %d bytes of %d", n, read)
	case err == nil && read < len(from), err != nil && !errors.Is(err, dewpond.ErrExhausted), err != nil && w.Available() > 0:
		t.Fatalf("ReadFrom read %d bytes of %d and returned %v, with room for %d", n, len(from), err, w.Available())
	}
	w.holds = slices.Concat(w.holds, from[:read])
}
