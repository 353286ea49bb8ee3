package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// One test for each row of docs/ownership.md, named by the row's first words. The
// unseen rows are tested too: that a misuse cannot be seen is a fact, not a hope.
var ownership = map[string]func(t *testing.T, p *dewpond.BytePool){
	"Put(nil)": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(nil)
		p.Put(p.Get(0))
		p.Put(make([]byte, 100)[100:])
		expect(t, p, dewpond.Stats{})
	},
	"Put of a slice whose cap is no class": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(make([]byte, 100))
		p.Put(make([]byte, 128)[:10:100])
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 2}})
	},
	"Put of a sub-slice that does not start": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(p.Get(128)[1:])
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}, InUseBytes: 128})
	},
	"Put of a sub-slice whose cap happens": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(128)
		p.Put(b[64:])
		if offHeap {
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}, InUseBytes: 128})
			return
		}
		if got := p.Get(64); &got[0] != &b[64] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Put of a slice larger than the largest": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(make([]byte, 8192))
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1}})
	},
	"Put of a slice whose cap is a class": func(t *testing.T, p *dewpond.BytePool) {
		frame := make([]byte, 128)
		p.Put(frame[1:65:65])
		p.Put(frame[8:72:72])
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 2}})
	},
	"Put of a slice made elsewhere": func(t *testing.T, p *dewpond.BytePool) {
		p.Get(128)
		p.Put(make([]byte, 128))
		if offHeap {
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}, InUseBytes: 128})
			return
		}
		expect(t, p, dewpond.Stats{IdleBytes: 128})
	},
	"Put of a shorter or longer": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(p.Get(100)[:0])
		b := p.Get(100)
		p.Put(b[:128])
		expect(t, p, dewpond.Stats{IdleBytes: 128})
	},
	"Put after Close": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		if err := p.Close(); (err != nil) != offHeap {
			t.Errorf("Close with a block out: %v", err)
		}
		p.Put(b)
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Closed: 1}})
	},
	"Put twice": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		p.Put(b)
		if offHeap {
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}, IdleBytes: 128})
			return
		}
		if one, two := p.Get(100), p.Get(100); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Put while the block is out again": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		other := p.Get(100)
		p.Put(b)
		if third := p.Get(100); &third[0] != &other[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"read after Put": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		p.Get(100)[0] = 7
		if b[0] != 7 {
			t.Error("the row is out of date")
		}
	},
	"write after Put": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		b[0] = 7
		if p.Get(100)[0] != 7 {
			t.Error("the row is out of date")
		}
		q := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroOnGet})
		b = q.Get(100)
		q.Put(b)
		b[0] = 7
		if q.Get(100)[0] != 0 {
			t.Error("ZeroOnGet let a write after Put through")
		}
	},
	"no Put": func(t *testing.T, p *dewpond.BytePool) {
		p.Get(100)
		expect(t, p, dewpond.Stats{InUseBytes: 128})
		if err := p.Close(); (err != nil) != offHeap {
			t.Errorf("Close: %v", err)
		}
	},
	"append past cap": func(t *testing.T, p *dewpond.BytePool) {
		b := append(p.Get(128), make([]byte, 1300)...)
		p.Put(b)
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}, InUseBytes: 128})
		p.Put(p.Append(p.Get(128), make([]byte, 1300)...))
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}, InUseBytes: 128, IdleBytes: 128 + 2048})
	},
	"GetBatch into elements that still hold": func(t *testing.T, p *dewpond.BytePool) {
		blocks := [][]byte{p.Get(100), nil}
		if err := p.GetBatch(t.Context(), blocks, 1000); err != nil {
			t.Error(err)
		}
		for _, b := range blocks {
			p.Put(b)
		}
		expect(t, p, dewpond.Stats{InUseBytes: 128, IdleBytes: 2 * 1024})
	},
	"GetBatch or GetContext by a caller that holds": func(t *testing.T, _ *dewpond.BytePool) {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", 4096)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			held := make([][]byte, 4)
			for i := range held {
				held[i] = p.Get(1024)
			}
			var wg go125.WaitGroup
			for range 2 { // callers that hold two of these each
				wg.Go(func() {
					if err := p.GetBatch(ctx, make([][]byte, 2), 1024); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the row is out of date: %v", err)
					}
				})
			}
			wg.Wait()
			putAll(p, held)
			if s := p.Stats(); s.Waits != 2 || s.WaitDuration != 2*time.Hour || s.InUseBytes != 0 {
				t.Errorf("%d slept for %v", s.Waits, s.WaitDuration)
			}
		})
	},
	"an Allocator that returns what cannot be": func(t *testing.T, _ *dewpond.BytePool) {
		p := newPool(t, dewpond.BytePoolOptions{Memory: fixedSource(make([]byte, 60))})
		if text := panics(func() { p.Get(64) }); !strings.Contains(text, "the Allocator of pool") {
			t.Errorf("panicked with %q", text)
		}
	},
	"an Allocator that returns a block that is not": func(t *testing.T, _ *dewpond.BytePool) {
		p := newPool(t, dewpond.BytePoolOptions{Memory: fixedSource(bytes.Repeat([]byte{7}, 64))})
		if one, two := p.Get(64), p.Get(64); one[0] != 7 || &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Adopt of what cannot": func(t *testing.T, p *dewpond.BytePool) {
		p.Adopt(make([]byte, 4097))
		p.Adopt(make([]byte, 60))
		p.Adopt(make([]byte, 300)) // between 128 and 1024
		p.Adopt(make([]byte, 136)[8:])
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1, Foreign: 3}})
	},
	"Adopt of a part of": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		b := make([]byte, 4096)
		p.Adopt(b[1024:2048:2048])
		if got := p.Get(1024); &got[0] != &b[1024] {
			t.Error("the row is out of date: the pool saw it")
		}
	}),
	"Adopt twice": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		b := make([]byte, 1024)
		p.Adopt(b)
		p.Adopt(b)
		if one, two := p.Get(1024), p.Get(1024); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	}),
	"Adopt of a block that Get returned": func(t *testing.T, p *dewpond.BytePool) {
		p.Adopt(p.Get(1024))
		want := dewpond.Stats{IdleBytes: 1024, InUseBytes: 1024}
		if offHeap { // where it is Put
			want.InUseBytes = 0
		}
		expect(t, p, want)
	},
	"BodyPool: Put of a body cut": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		h := p.Bodies()
		size := dewpond.BodySize(h)
		for range 100 {
			h.Put(append(h.Get(), make([]byte, 1500)...)[:0])
		}
		if expect(t, p, dewpond.Stats{IdleBytes: p.Stats().IdleBytes}); dewpond.BodySize(h) != size {
			t.Errorf("a BodyPool of %d bytes has %d now", size, dewpond.BodySize(h))
		}
	}),
	"BodyPool: no Put": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		h := p.Bodies()
		h.Get()
		expect(t, p, dewpond.Stats{InUseBytes: int64(dewpond.BodySize(h))})
	}),
	"ReadAll: no Put of what": func(t *testing.T, p *dewpond.BytePool) {
		if b, err := p.ReadAll(iotest.ErrReader(io.ErrUnexpectedEOF)); b == nil || err != io.ErrUnexpectedEOF {
			t.Errorf("%v, %v", b, err)
		}
		expect(t, p, dewpond.Stats{InUseBytes: 1024})
	},
	"Get of a negative size": func(t *testing.T, p *dewpond.BytePool) {
		defer func() {
			if r, _ := recover().(string); !strings.Contains(r, "Get(-1)") {
				t.Errorf("panicked with %q", r)
			}
		}()
		p.Get(-1)
	},
}

// onHeap is a row's test of what is not so off the heap: ownership.md says what is.
func onHeap(test func(t *testing.T, p *dewpond.BytePool)) func(*testing.T, *dewpond.BytePool) {
	return func(t *testing.T, p *dewpond.BytePool) {
		if !offHeap {
			test(t, p)
			return
		}
		p.Adopt(make([]byte, 1024))
		if expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}); panics(func() { p.Bodies() }) == "" {
			t.Error("the document is out of date: there is a BodyPool off the heap")
		}
	}
}

func TestOwnershipTable(t *testing.T) {
	notWatched(t, misuses)
	// On one P the next Get returns the last Put, which shows whose block it is.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	doc, err := os.ReadFile("docs/ownership.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := maps.Clone(ownership)
	maps.Copy(tests, sliceOwnership)
	maps.Copy(tests, toolOwnership)
	rows := 0
	for line := range strings.Lines(string(doc)) {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok || strings.HasPrefix(row, "misuse") || strings.HasPrefix(row, "---") {
			continue
		}
		rows++
		found := false
		for name, f := range tests {
			if strings.HasPrefix(row, name) {
				found = true
				t.Run(name, func(t *testing.T) {
					f(t, newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 128, 1024, 2048, 4096}}))
				})
			}
		}
		if !found {
			t.Errorf("no test for the row: %s", row)
		}
	}
	if rows != len(tests) {
		t.Errorf("%d rows and %d tests", rows, len(tests))
	}
}

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
		if expectObjects(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Closed: 1}}); dropped != 1 {
			t.Errorf("dropped %d times", dropped)
		}
	},
	"Pool: no Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
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
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}, IdleBytes: 1024})
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
		expect(t, p, dewpond.Stats{InUseBytes: 128, DoubleReleases: 2})
		other.Release()
		expect(t, p, dewpond.Stats{IdleBytes: 128, DoubleReleases: 2})
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
		expect(t, p, dewpond.Stats{InUseBytes: 128, IdleBytes: idle, DoubleReleases: 1})
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
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 3}, InUseBytes: 1024})
		for i, unlucky := range []dewpond.Lease{l.Slice(128, 256), l.Truncate(128)} {
			b := unlucky.Bytes()
			p.Put(b)
			if offHeap {
				expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: uint64(4 + i)}, InUseBytes: 1024})
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
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}, IdleBytes: 128})
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
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1, Oversize: 1}})
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
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Double: 4}, IdleBytes: 128})
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
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}, InUseBytes: 4096})
		p.Put(s.Get(128)) // at 104 of the chunk
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 2}, InUseBytes: 4096})
		s.Get(8)
		unlucky := s.Get(128) // at 240
		p.Put(unlucky)
		if offHeap {
			expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 3}, InUseBytes: 4096})
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
		Dropped: dewpond.DropStats{Closed: s.Dropped.Closed}, IdleBytes: s.IdleBytes, InUseBytes: s.InUseBytes,
	}, want)
}

// The rows of docs/ownership.md for SlicePool, of elements with pointers and without.
var sliceOwnership = map[string]func(t *testing.T, p *dewpond.BytePool){
	"SlicePool: Put of a slice whose cap": func(t *testing.T, _ *dewpond.BytePool) {
		entries, floats := slicesOfEight[entry](t), slicesOfEight[float64](t)
		entries.Put(make([]entry, 7))
		floats.Put(make([]float64, 7))
		floats.Put(make([]float64, 17)[1:9:9])
		expect(t, entries, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}})
		expect(t, floats, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 2}})
	},
	"SlicePool: Put of a part whose cap": func(t *testing.T, _ *dewpond.BytePool) {
		entries, floats := slicesOfEight[entry](t), slicesOfEight[float64](t)
		e, f := entries.Get(16), floats.Get(16)
		entries.Put(e[8:])
		floats.Put(f[8:])
		if &entries.Get(8)[0] != &e[8] || &floats.Get(8)[0] != &f[8] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"SlicePool: Put of a slice made elsewhere": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Get(8)
		p.Put(make([]float64, 8))
		expect(t, p, dewpond.Stats{IdleBytes: 64})
	},
	"SlicePool: Put of a slice larger": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Put(make([]float64, 1000))
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1}})
	},
	"SlicePool: Put twice": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[entry](t)
		s := p.Get(8)
		p.Put(s)
		p.Put(s)
		if one, two := p.Get(8), p.Get(8); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"SlicePool: use after Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[entry](t)
		s := p.Get(8)
		s[0].Name = "alice"
		p.Put(s)
		if s[0].Name != "" {
			t.Error("the row is out of date: it is not cleared")
		}
		p.Get(8)[0].Name = "bob"
		if s[0].Name != "bob" {
			t.Error("the row is out of date")
		}
	},
	"SlicePool: append past cap": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Put(append(p.Get(16), 1))
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1}, InUseBytes: 128})
	},
	"SlicePool: a Reset that leaves a pointer": func(t *testing.T, _ *dewpond.BytePool) {
		p := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{8}, Reset: func([]entry) {}})
		s := p.Get(8)
		s[7].Name = "alice"
		p.Put(s)
		if p.Get(1)[:8][7].Name != "alice" {
			t.Error("the row is out of date: the pool cleared it")
		}
	},
	"SlicePool: Put after Close": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[entry](t)
		s := p.Get(8)
		p.Close()
		p.Put(s)
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Closed: 1}})
	},
	"SlicePool: no Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Get(8)
		expect(t, p, dewpond.Stats{InUseBytes: 64})
	},
	"SlicePool: Get of a negative number": func(t *testing.T, _ *dewpond.BytePool) {
		if text := panics(func() { slicesOfEight[entry](t).Get(-1) }); text == "" {
			t.Error("Get(-1) returns")
		}
	},
}

// slicesOfEight makes a pool of slices of 8 and of 16 elements.
func slicesOfEight[T any](t *testing.T) *dewpond.SlicePool[T] {
	return newSlices(t, dewpond.SlicePoolOptions[T]{Classes: []int{8, 16}})
}
