package dewpond_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)

// The rows of docs/ownership.md for Pool, Buffer, Lease and Scope. The test runs
// them on one P, where the next Get returns the last Put.
var toolOwnership = map[string]func(t *testing.T, p *dewpond.BytePool){
	"Pool: Put(nil)": func(t *testing.T, _ *dewpond.BytePool) {
		p := newObjects(t, dewpond.PoolOptions[account]{})
		p.Put(nil)
		expectObjects(t, p, dewpond.Stats{})
	},
	"Pool: Put twice": func(t *testing.T, _ *dewpond.BytePool) {
		p := newObjects(t, dewpond.PoolOptions[account]{})
		v := p.Get()
		p.Put(v)
		p.Put(v)
		if one, two := p.Get(), p.Get(); one != two {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Pool: use after Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := newObjects(t, dewpond.PoolOptions[account]{})
		v := p.Get()
		p.Put(v)
		p.Get().Name = "bob"
		if v.Name != "bob" {
			t.Error("the row is out of date")
		}
	},
	"Pool: Put of an object made elsewhere": func(t *testing.T, _ *dewpond.BytePool) {
		p := newObjects(t, dewpond.PoolOptions[account]{})
		p.Get()
		p.Put(&account{Name: "alice"})
		expectObjects(t, p, dewpond.Stats{IdleBytes: int64(unsafe.Sizeof(account{}))})
		if p.Get().Name != "" {
			t.Error("it was not reset")
		}
	},
	"Pool: Put after Close": func(t *testing.T, _ *dewpond.BytePool) {
		dropped := 0
		p := newObjects(t, dewpond.PoolOptions[account]{Drop: func(*account) { dropped++ }})
		v := p.Get()
		p.Close()
		p.Put(v)
		if expectObjects(t, p, dewpond.Stats{DroppedClosed: 1}); dropped != 1 {
			t.Errorf("dropped %d times", dropped)
		}
	},
	"Pool: no Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
		p.Get()
		expectObjects(t, p, dewpond.Stats{InUseBytes: int64(unsafe.Sizeof(account{}))})
		if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
			t.Error(err)
		}
	},

	"Buffer: Release twice": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Buffer()
		b.Release()
		b.WriteString("x")
		b.Release()
		b.Release()
		expect(t, p, dewpond.Stats{IdleBytes: 1024})
	},
	"Buffer: use after Release": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Buffer()
		defer b.Release()
		b.WriteString("first")
		b.Release()
		b.WriteString("second")
		if b.String() != "second" {
			t.Errorf("%q", b)
		}
	},
	"Buffer: a slice from Bytes, Next or Peek used after growth": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Buffer()
		b.WriteString("mine")
		old := b.Bytes()
		b.Release()
		if copy(p.Get(1024), "theirs"); string(old) != "thei" {
			t.Errorf("the row is out of date: %q", old)
		}
	},
	"Buffer: Put of what Bytes returned": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Buffer()
		b.WriteString("x")
		p.Put(b.Bytes())
		b.Release()
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedDouble: 1, IdleBytes: 1024})
			return
		}
		if one, two := p.Get(1024), p.Get(1024); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Buffer: no Release": func(t *testing.T, p *dewpond.BytePool) {
		p.Buffer().WriteString("x")
		expect(t, p, dewpond.Stats{InUseBytes: 1024})
	},

	"Buffer of TryBuffer: the error of a write": func(t *testing.T, p *dewpond.BytePool) {
		q := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 2048}, Budget: dewpond.MustBudget("", 1024)})
		b := q.TryBuffer()
		defer b.Release()
		b.WriteString("one,")
		b.WriteString(strings.Repeat("two,", 1024))
		b.WriteString("three")
		if b.String() != "one,three" || q.Stats().Refused != 1 {
			t.Errorf("%q, and %d refused", b, q.Stats().Refused)
		}
	},

	"Buffer: a slice from Bytes, Next or Peek used after Lease": func(t *testing.T, p *dewpond.BytePool) {
		for _, fits := range []bool{true, false} {
			b := p.Buffer()
			if b.WriteString("mine"); fits {
				b.Write(make([]byte, b.Available()))
			}
			old := b.Bytes()
			l := b.Lease()
			if copy(old, "your"); strings.HasPrefix(string(l.Bytes()), "your") != fits {
				t.Errorf("the row is out of date: %q", l.Bytes())
			}
			l.Release()
		}
	},

	"Lease: Release twice": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		copied, other := l, l.Retain()
		l.Release()
		if dewpond.Release(l) != dewpond.ErrReleased || dewpond.Release(copied) != dewpond.ErrReleased {
			t.Error("a second Release passes")
		}
		expect(t, p, dewpond.Stats{InUseBytes: 128, DroppedDouble: 2})
		other.Release()
		expect(t, p, dewpond.Stats{IdleBytes: 128, DroppedDouble: 2})
	},
	"Lease: Release, when its handle": func(t *testing.T, p *dewpond.BytePool) {
		stale := p.Lease(100)
		stale.Release()
		l := p.Lease(100)
		if !dewpond.SameHandle(stale, l) {
			t.Error("the handle was not reused: this shows nothing")
		}
		idle := p.Stats().IdleBytes // the portable engine may not have found the block again
		if dewpond.Release(stale) != dewpond.ErrReleased {
			t.Error("a stale Release passes")
		}
		expect(t, p, dewpond.Stats{InUseBytes: 128, IdleBytes: idle, DroppedDouble: 1})
		l.Release()
	},
	"Lease: Bytes, Retain, Slice or Truncate after": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		l.Release()
		for _, use := range []func(){func() { l.Bytes() }, func() { l.Retain() }, func() { l.Slice(1, 2) }, func() { l.Truncate(1) }} {
			if text := panics(use); !strings.Contains(text, "a Lease that was released") {
				t.Errorf("panics with %q", text)
			}
		}
	},
	"Lease: Slice or Truncate beyond": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		defer l.Release()
		for want, use := range map[string]func(){"Slice(0, 101)": func() { l.Slice(0, 101) }, "Truncate(-1)": func() { l.Truncate(-1) }} {
			if text := panics(use); !strings.Contains(text, want+" of a Lease of 100 bytes") {
				t.Errorf("panics with %q", text)
			}
		}
	},
	"Lease: the result of Truncate thrown away": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		defer l.Release()
		if l.Truncate(1); l.Len() != 100 || len(l.Bytes()) != 100 {
			t.Error("the row is out of date")
		}
	},
	"Lease: append to a part's bytes": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		for _, part := range []dewpond.Lease{l.Slice(0, 10), l.Retain().Truncate(10)} {
			if _ = append(part.Bytes(), 7); l.Bytes()[10] != 0 {
				t.Error("append wrote to the next part")
			}
			part.Release()
		}
		l.Release()
	},
	"Lease: Put of a part's": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(1024)
		for _, refused := range []dewpond.Lease{l.Slice(0, 100), l.Slice(8, 136), l.Truncate(100)} {
			p.Put(refused.Bytes())
		}
		expect(t, p, dewpond.Stats{DroppedForeign: 3, InUseBytes: 1024})
		for i, unlucky := range []dewpond.Lease{l.Slice(128, 256), l.Truncate(128)} {
			b := unlucky.Bytes()
			p.Put(b)
			if offHeap {
				expect(t, p, dewpond.Stats{DroppedForeign: uint64(4 + i), InUseBytes: 1024})
			} else if other := p.Get(128); &other[0] != &b[0] {
				t.Error("the row is out of date: the pool saw it")
			}
		}
	},
	"Lease: a slice from Bytes": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		old := l.Bytes()
		l.Release()
		if p.Get(100)[0] = 7; old[0] != 7 {
			t.Error("the row is out of date")
		}
	},
	"Lease: Put of what Bytes returned": func(t *testing.T, p *dewpond.BytePool) {
		l := p.Lease(100)
		p.Put(l.Bytes())
		l.Release()
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedDouble: 1, IdleBytes: 128})
			return
		}
		if one, two := p.Get(100), p.Get(100); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Lease: no Release": func(t *testing.T, p *dewpond.BytePool) {
		p.Lease(100)
		expect(t, p, dewpond.Stats{InUseBytes: 128})
		l := p.Lease(1024)
		l.Slice(0, 1)
		l.Release()
		expect(t, p, dewpond.Stats{InUseBytes: 128 + 1024})
	},
	"LeaseOf: of a slice that Put refuses": func(t *testing.T, p *dewpond.BytePool) {
		for _, b := range [][]byte{make([]byte, 10, 100), make([]byte, 8192)} {
			l := p.LeaseOf(b)
			if got := l.Bytes(); len(got) != len(b) || cap(got) != cap(b) || &got[0] != &b[0] {
				t.Errorf("the Lease has %d of %d bytes", len(got), cap(got))
			}
			l.Release()
		}
		expect(t, p, dewpond.Stats{DroppedForeign: 1, DroppedOversize: 1})
	},
	"LeaseOf: Put of the block": func(t *testing.T, p *dewpond.BytePool) {
		for range 2 {
			b := p.Get(100)
			l := p.LeaseOf(b)
			p.Put(b)
			l.Release()
			c := p.Get(100)
			one, two := p.LeaseOf(c), p.LeaseOf(c)
			one.Release()
			two.Release()
		}
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedDouble: 4, IdleBytes: 128})
			return
		}
		if one, two := p.Get(100), p.Get(100); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"LeaseOf: the block used as a slice": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.LeaseOf(b).Release()
		if p.Get(100)[0] = 7; b[0] != 7 {
			t.Error("the row is out of date")
		}
	},

	"Scope: Close twice": func(t *testing.T, p *dewpond.BytePool) {
		s := p.Scope()
		s.Get(100)
		s.Close()
		s.Close()
		expect(t, p, dewpond.Stats{IdleBytes: 4096})
	},
	"Scope: Get, TryGet, Copy or Slice after Close": func(t *testing.T, p *dewpond.BytePool) {
		s := p.Scope()
		s.Close()
		for _, text := range []string{
			panics(func() { s.Get(1) }),
			panics(func() { s.TryGet(1) }),
			panics(func() { s.Copy([]byte("x")) }),
			panics(func() { dewpond.ScopeSlice[int](s, 1) }),
		} {
			if !strings.Contains(text, "a Scope that was closed") {
				t.Errorf("panics with %q", text)
			}
		}
	},
	"Scope: a piece used after Close": func(t *testing.T, p *dewpond.BytePool) {
		s := p.Scope()
		piece := s.Get(100)
		s.Close()
		if p.Get(4096)[0] = 7; piece[0] != 7 {
			t.Error("the row is out of date")
		}
	},
	"Scope: append beyond a piece": func(t *testing.T, p *dewpond.BytePool) {
		s := p.Scope()
		defer s.Close()
		a, b := s.Get(8), s.Get(8)
		_ = append(a, 7)
		if b[0] != 0 {
			t.Error("append wrote to the next piece")
		}
	},
	"Scope: Put of a piece": func(t *testing.T, p *dewpond.BytePool) {
		s := p.Scope()
		p.Put(s.Get(100))
		expect(t, p, dewpond.Stats{DroppedForeign: 1, InUseBytes: 4096})
		p.Put(s.Get(128)) // at 104 of the chunk
		expect(t, p, dewpond.Stats{DroppedForeign: 2, InUseBytes: 4096})
		s.Get(8)
		unlucky := s.Get(128) // at 240
		p.Put(unlucky)
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedForeign: 3, InUseBytes: 4096})
			return
		}
		if b := p.Get(128); &b[0] != &unlucky[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Scope: Slice of a type": func(t *testing.T, p *dewpond.BytePool) {
		s := p.Scope()
		defer s.Close()
		if text := panics(func() { dewpond.ScopeSlice[account](s, 1) }); !strings.Contains(text, "holds pointers (string)") {
			t.Errorf("panics with %q", text)
		}
	},
	"Scope: no Close": func(t *testing.T, p *dewpond.BytePool) {
		p.Scope().Get(100)
		expect(t, p, dewpond.Stats{InUseBytes: 4096})
	},
}

func expectObjects(t *testing.T, p *dewpond.Pool[account], want dewpond.Stats) {
	t.Helper()
	s := p.Stats()
	compare(t, dewpond.Stats{
		DroppedClosed: s.DroppedClosed, IdleBytes: s.IdleBytes, InUseBytes: s.InUseBytes,
	}, want)
}
