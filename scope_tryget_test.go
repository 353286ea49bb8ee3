package dewpond_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// A piece is refused where TryGet of the pool would refuse its block. Where there is no room
// for a chunk, a block that is just large enough will do.
func TestScopeTryGet(t *testing.T) {
	budget := dewpond.MustBudget("", 12<<10)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024, 8192, 16 << 10}, Budget: budget})
	s := p.Scope()
	defer s.Close()
	var pieces [][]byte
	try := func(n, used int, want error) {
		t.Helper()
		b, err := s.TryGet(n)
		if !errors.Is(err, want) || len(b) != n && want == nil || cap(b) != len(b) || (b == nil) != (want != nil) || budget.Used() != int64(used) {
			t.Errorf("TryGet(%d): %d bytes, %v, want %v; %d bytes are charged, want %d", n, len(b), err, want, budget.Used(), used)
		}
		for i := range b {
			b[i] = byte(len(pieces) + 1)
		}
		pieces = append(pieces, b)
	}
	try(0, 0, nil)
	try(100, 8192, nil) // a chunk
	try(1900, 8192, nil)
	try(8192, 8192, dewpond.ErrExhausted)
	if s := p.Stats(); s.Refused != 1 {
		t.Errorf("Refused %d", s.Refused)
	}
	try(2000, 8192, nil)
	try(2040, 8192, nil)
	try(2048, 8192, nil)                          // the chunk has 100 bytes left
	try(1000, 8192+1024, nil)                     // there is no room for 16 KiB
	try(50, 8192+1024, nil)                       // in the chunk
	try(60, 8192+1024+64, nil)                    // and here there is no room for another
	try(2048, 8192+1024+64, dewpond.ErrExhausted) // its class is 8 KiB
	try(1024, 8192+2*1024+64, nil)
	try(1024, 8192+3*1024+64, nil)
	try(1024, 8192+3*1024+64, dewpond.ErrExhausted)
	try(64, 8192+3*1024+128, nil)
	if s := p.Stats(); s.Refused != 3 || s.OverBudget != 0 {
		t.Errorf("Refused %d, OverBudget %d", s.Refused, s.OverBudget)
	}
	for i, b := range pieces {
		if bytes.Count(b, []byte{byte(i + 1)}) != len(b) {
			t.Errorf("piece %d of %d bytes was written to by another", i, len(b))
		}
	}
	s.Close()
	if s := p.Stats(); s.InUseBytes != 0 || s.Gets != s.Puts {
		t.Errorf("%+v", s)
	}
	if text := panics(func() { s.TryGet(1) }); text != "dewpond: TryGet(1) on a Scope that was closed" {
		t.Errorf("after Close it panics with %q", text)
	}
}

// After a refusal the Scope is as it was, and what the pool refuses for another reason is told.
func TestScopeTryGetErrors(t *testing.T) {
	leavesOut(t, "the chunk of a Scope that is open at Close")
	source := new(meter)
	p := newPool(t, dewpond.BytePoolOptions{Memory: source, IdleTimeout: dewpond.NoDecay})
	s := p.Scope()
	defer s.Close()
	source.fail.Store(true)
	for _, n := range []int{1, 5000} {
		if b, err := s.TryGet(n); b != nil || !errors.Is(err, errNoMemory) {
			t.Errorf("TryGet(%d) without memory: %d bytes, %v", n, len(b), err)
		}
	}
	source.fail.Store(false)
	if b, err := s.TryGet(10); err != nil || len(b) != 10 || p.Stats().InUseBytes != 8192 || p.Stats().Refused != 2 {
		t.Errorf("%d bytes, %v, %+v", len(b), err, p.Stats())
	}
	if text := panics(func() { s.TryGet(-1) }); !strings.Contains(text, "TryGet(-1) on a Scope of pool") {
		t.Errorf("panics with %q", text)
	}
	p.Close()
	if b, err := s.TryGet(10); err != nil || len(b) != 10 { // in the chunk
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := s.TryGet(8000); b != nil || err != dewpond.ErrClosed {
		t.Errorf("after Close of the pool: %d bytes, %v", len(b), err)
	}
}

// TryGet of a Scope obeys AllocLimit, which counts a chunk once.
func TestScopeTryGetObeysAllocLimit(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{AllocLimit: 1})
	s := p.Scope()
	defer s.Close()
	for range 50 {
		if _, err := s.TryGet(100); err != nil {
			t.Fatal(err)
		}
	}
	if st := p.Stats(); st.Misses != 1 {
		t.Errorf("%+v", st)
	}
}
