package dewpond_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// instruments/proof has what any sequence of calls must keep to.

// refusals are the writes that need a block for n bytes more, all of which may be refused.
func refusals(b *dewpond.Buffer, n int) map[string]func() (int, error) {
	p := bytes.Repeat([]byte("b"), n)
	return map[string]func() (int, error){
		"Write":       func() (int, error) { return b.Write(p) },
		"WriteString": func() (int, error) { return b.WriteString(string(p)) },
		"WriteByte":   func() (int, error) { return 0, b.WriteByte('b') },
		"WriteRune":   func() (int, error) { return b.WriteRune('b') },
		"WriteRune 3": func() (int, error) { return b.WriteRune('世') },
		"itself":      func() (int, error) { return b.Write(b.Bytes()) },
		"TryGrow":     func() (int, error) { return 0, b.TryGrow(n) },
		"ReadFrom": func() (int, error) {
			n, err := b.ReadFrom(bytes.NewReader(p))
			return int(n), err
		},
	}
}

// Whatever refuses a TryBuffer a block, the write returns the error, writes nothing and
// leaves the contents whole, and what was refused is counted once.
func TestTryBufferRefused(t *testing.T) {
	text := strings.Repeat("a", 512)
	errNoMemory := errors.New("no memory")
	for _, tt := range []struct {
		name   string
		budget int64
		limit  int
		want   error
		full   func(t *testing.T, p *dewpond.BytePool, source *fakeSource) // makes the next block one too many
	}{
		{name: "Budget", budget: 600, want: dewpond.ErrExhausted},
		{name: "AllocLimit", limit: 1, want: dewpond.ErrExhausted},
		{name: "Close", want: dewpond.ErrClosed, full: func(_ *testing.T, p *dewpond.BytePool, _ *fakeSource) { p.Close() }},
		{name: "Source", want: errNoMemory, full: func(_ *testing.T, _ *dewpond.BytePool, s *fakeSource) { s.fail = errNoMemory }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in which AllocLimit allows no more
				o := dewpond.BytePoolOptions{AllocLimit: tt.limit}
				if tt.budget > 0 {
					o.Budget = dewpond.MustBudget("", tt.budget)
				}
				source := newFakeSource()
				if tt.want == errNoMemory {
					o.Memory = source
				}
				p := newPool(t, o)
				b := p.TryBuffer()
				defer b.Release()
				if n, err := b.WriteString(text); n != 512 || err != nil || b.Available() != 0 {
					t.Fatalf("the first write returned %d, %v, and has room for %d more", n, err, b.Available())
				}
				if tt.full != nil {
					tt.full(t, p, source)
				}
				for name, call := range refusals(b, 100) {
					before := p.Stats().Refused
					n, err := call()
					if n != 0 || !errors.Is(err, tt.want) {
						t.Errorf("%s returned %d, %v, want %v", name, n, err, tt.want)
					}
					if b.String() != text {
						t.Errorf("%s left %.100q", name, b)
					}
					if tt.want == dewpond.ErrClosed {
						before-- // is no refusal
					}
					if got := p.Stats().Refused - before; got != 1 {
						t.Errorf("%s is counted as refused %d times", name, got)
					}
				}
				// What needs no block is not refused.
				b.Next(12)
				b.Truncate(490)
				if n, err := b.WriteString("0123456789"); n != 10 || err != nil {
					t.Errorf("a write with room for it returned %d, %v", n, err)
				}
				if n, err := b.Write(nil); n != 0 || err != nil {
					t.Errorf("a write of nothing returned %d, %v", n, err)
				}
				if want := text[:490] + "0123456789"; b.String() != want {
					t.Errorf("holds %.100q in the end", b)
				}
			})
		})
	}
}

// If there is no room for a block twice as large, a TryBuffer takes one that just fits, and
// goes on when there is room again.
func TestTryBufferTakesWhatFits(t *testing.T) {
	budget := dewpond.MustBudget("", 512+2048+768)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, 768, 1024, 2048}, Budget: budget})
	b := p.TryBuffer()
	defer b.Release()
	b.WriteString(strings.Repeat("a", 512))
	other, err := p.TryGet(2048)
	if err != nil {
		t.Fatal(err)
	}
	for b.Len() < 768 {
		if err := b.WriteByte('a'); err != nil || b.Cap() != 768 {
			t.Fatalf("byte %d: %v, in a block of %d bytes", b.Len(), err, b.Cap())
		}
	}
	if err := b.WriteByte('a'); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("with %d of %d used: %v", budget.Used(), budget.Limit(), err)
	}
	p.Put(other)
	if err := b.WriteByte('a'); err != nil || b.Len() != 769 || b.Cap() != 2048 {
		t.Errorf("with room again: %v, and %d bytes in a block of %d", err, b.Len(), b.Cap())
	}
	if s := p.Stats(); s.OverBudget != 0 {
		t.Errorf("past the Budget %d times", s.OverBudget)
	}
}

// Above the largest class, many small writes near the limit do not copy everything each time.
func TestTryBufferGrowsAmortizedToItsLimit(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024}, Budget: dewpond.MustBudget("", 1<<20)})
	b := p.TryBuffer()
	defer b.Release()
	var err error
	for err == nil {
		err = b.WriteByte('a')
	}
	if !errors.Is(err, dewpond.ErrExhausted) || b.Len() < 1<<18 {
		t.Errorf("%v after %d bytes", err, b.Len())
	}
	if s := p.Stats(); s.Oversize > 40 {
		t.Errorf("%d slices above the largest class for %d bytes", s.Oversize, b.Len())
	}
}

// ReadFrom keeps and counts what it reads until it is refused and full, and reads no more
// than it keeps.
func TestTryBufferReadFrom(t *testing.T) {
	text := strings.Repeat("0123456789", 200)
	for name, reader := range map[string]func(io.Reader) io.Reader{
		"all":  func(r io.Reader) io.Reader { return r },
		"half": iotest.HalfReader,
		"one":  iotest.OneByteReader,
	} {
		p := newPool(t, dewpond.BytePoolOptions{Name: name, Classes: []int{512, 1024}, Budget: dewpond.MustBudget("", 1536)})
		b, r := p.TryBuffer(), strings.NewReader(text)
		n, err := b.ReadFrom(reader(r))
		if n != 1024 || !errors.Is(err, dewpond.ErrExhausted) || b.String() != text[:1024] || r.Len() != 2000-1024 {
			t.Errorf("%s: %d, %v, holds %d bytes, and %d are left", name, n, err, b.Len(), r.Len())
		}
		if n := p.Stats().Refused; n > 4 { // it asks before its block is full, and then, each time twice
			t.Errorf("%s: it has asked %d times in vain", name, n)
		}
		b.Reset()
		if n, err := b.ReadFrom(reader(r)); n != 2000-1024 || err != nil || b.String() != text[1024:] {
			t.Errorf("%s, the rest: %d, %v", name, n, err)
		}
		b.Release()
	}
}

// Grow says nothing of a refusal, which is counted, and does nothing then. A Buffer that is
// never refused grows by TryGrow too.
func TestGrowIsRefused(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64)})
	b := p.TryBuffer()
	defer b.Release()
	if b.Grow(100); b.Cap() != 0 || p.Stats().Refused != 1 {
		t.Errorf("a block of %d bytes after %d refusals", b.Cap(), p.Stats().Refused)
	}
	other := p.Buffer()
	defer other.Release()
	if err := other.TryGrow(100); err != nil || other.Available() < 100 {
		t.Errorf("%v, and %d bytes are available", err, other.Available())
	}
}

func TestTryBufferOfNilPoolPanics(t *testing.T) {
	if panics(func() { (*dewpond.BytePool)(nil).TryBuffer() }) == "" {
		t.Error("a nil pool made a Buffer on the default one")
	}
}
