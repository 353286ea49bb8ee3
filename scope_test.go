package dewpond_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)

func TestScope(t *testing.T) {
	leavesOut(t, "a block that shows the size of a class")
	p := newPool(t, dewpond.BytePoolOptions{})
	s := p.Scope()
	if got := p.Stats().Gets; got != 0 {
		t.Errorf("an unused Scope took %d blocks", got)
	}
	pieces := [][]byte{s.Get(0), s.Get(1), s.Get(7), s.Get(8), s.Get(2048), s.Get(2049), s.Copy([]byte("copied"))}
	for i, n := range []int{0, 1, 7, 8, 2048, 2049, 6} {
		if len(pieces[i]) != n || cap(pieces[i]) != n || pieces[i] == nil {
			t.Errorf("piece %d: len %d, cap %d, want %d", i, len(pieces[i]), cap(pieces[i]), n)
		}
	}
	if string(pieces[6]) != "copied" {
		t.Errorf("Copy: %q", pieces[6])
	}
	// One chunk of 8 KiB, and a block for what is larger than a quarter of it.
	if st := p.Stats(); st.Gets != 2 || st.InUseBytes != 8192+2560 && st.InUseBytes != 8192+int64(cap(p.Get(2049))) {
		t.Errorf("%d blocks, %d bytes", st.Gets, st.InUseBytes)
	}
	s.Close()
	s.Close()
	if st := p.Stats(); st.Puts != 2 {
		t.Errorf("%d blocks went back, want 2", st.Puts)
	}
}

// Get and Slice after Close panic, and go on to when other Scopes have come and
// gone: nothing of a closed Scope is ever another's.
func TestClosedScope(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	s := p.Scope()
	s.Get(100)
	s.Close()
	for range 1000 {
		other := p.Scope()
		other.Get(100)
		other.Close()
	}
	for name, use := range map[string]func(){
		"Get":      func() { s.Get(100) },
		"Get(0)":   func() { s.Get(0) },
		"large":    func() { s.Get(100_000) },
		"Copy":     func() { s.Copy([]byte("x")) },
		"Slice":    func() { dewpond.ScopeSlice[int](s, 3) },
		"no bytes": func() { dewpond.ScopeSlice[struct{}](s, 3) },
		"zero":     func() { new(dewpond.Scope).Get(1) },
	} {
		if text := panics(use); !strings.Contains(text, "a Scope that was closed") {
			t.Errorf("%s panics with %q", name, text)
		}
	}
	s.Close()
	if st := p.Stats(); st.InUseBytes != 0 {
		t.Errorf("%+v", st)
	}
}

func TestScopeSizesThatCannotBeMeant(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	s := p.Scope()
	defer s.Close()
	for name, use := range map[string]func(){
		"Get(-1)":            func() { s.Get(-1) },
		"Slice of -1 int64":  func() { dewpond.ScopeSlice[int64](s, -1) },
		"is negative or ove": func() { dewpond.ScopeSlice[int64](s, math.MaxInt/4) },
	} {
		if text := panics(use); !strings.Contains(text, name) {
			t.Errorf("%s panics with %q", name, text)
		}
	}
}

// Random pieces of several Scopes at once: none overlaps another, all keep what was
// written to them, append beyond cap touches no neighbour, and all comes back.
func TestScopePiecesDoNotOverlap(t *testing.T) {
	for _, classes := range [][]int{nil, {64}, {64, 1024}, {16 << 10}} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: classes})
		seed := uint64(7)
		random := func(n int) int {
			seed = seed*6364136223846793005 + 1442695040888963407
			return int(seed>>33) % n
		}
		for range 60 {
			scopes := []*dewpond.Scope{p.Scope(), p.Scope(), p.Scope()}
			var pieces [][]byte
			for i := range 300 {
				s := scopes[random(len(scopes))]
				n := random(300)
				if random(20) == 0 {
					n = random(20_000)
				}
				var b []byte
				if random(3) == 0 {
					words := dewpond.ScopeSlice[uint64](s, n/8)
					if n/8 > 0 && uintptr(unsafe.Pointer(&words[0]))%8 != 0 || cap(words) != n/8 {
						t.Fatal("a Slice is not aligned, or its cap is not cut")
					}
					b = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n/8*8)
				} else {
					b = s.Get(n)
				}
				for k := range b {
					if b[k] != 0 {
						t.Fatal("a piece is not zero")
					}
					b[k] = byte(i)
				}
				_ = append(b, 0xff)
				pieces = append(pieces, b)
			}
			for i, b := range pieces {
				if bytes.Count(b, []byte{byte(i)}) != len(b) {
					t.Fatalf("classes %v: piece %d was written to by another", classes, i)
				}
			}
			for _, s := range scopes {
				s.Close()
			}
		}
		if st := p.Stats(); st.InUseBytes != 0 || st.Gets != st.Puts || st.Dropped.Foreign != 0 {
			t.Errorf("classes %v: %+v", classes, st)
		}
	}
}

// What a Scope hands out is as clean as the pool's policy says, also when its chunk
// and its large blocks had an owner before.
func TestScopeFollowsZeroPolicy(t *testing.T) {
	notWatched(t, "it reads what a Put left in a block, which is poison")
	for _, tt := range []struct {
		zero  dewpond.ZeroPolicy
		clean bool
	}{{dewpond.ZeroOnPut, true}, {dewpond.ZeroOnGet, true}, {dewpond.ZeroNever, false}} {
		for _, source := range []bool{false, true} {
			o := dewpond.BytePoolOptions{Zero: tt.zero}
			if source {
				o.Memory = newFakeSource()
			}
			p := newPool(t, o)
			sizes := []int{100, 2000, 1, 5000, 40_000, 300}
			dirty := 0
			for range 3 {
				s := p.Scope()
				for _, n := range sizes {
					b := s.Get(n)
					dirty += len(b) - bytes.Count(b, []byte{0})
					for i := range b {
						b[i] = 0xee
					}
				}
				flags := dewpond.ScopeSlice[bool](s, 50)
				for i := range flags {
					if flags[i] {
						t.Error("a Slice is not zero")
					}
					flags[i] = true
				}
				s.Close()
			}
			if (dirty == 0) != tt.clean {
				t.Errorf("policy %d, Source %v: %d dirty bytes", tt.zero, source, dirty)
			}
			// The pool's other users must not see a Scope's bytes either.
			for _, n := range []int{8192, 5000, 40_000} {
				b := p.Get(n)
				if left := cap(b) - bytes.Count(b[:cap(b)], []byte{0}); tt.clean && left != 0 {
					t.Errorf("policy %d, Source %v: a block of %d has %d bytes of a Scope", tt.zero, source, cap(b), left)
				}
				p.Put(b)
			}
		}
	}
}

// Chunks grow, so that a Scope of many pieces takes few blocks.
func TestScopeChunksGrow(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	s := p.Scope()
	for range 200 {
		s.Get(1000)
	}
	// 8, 16 and 32 KiB hold 8, 16 and 32 pieces of 1000 bytes: 8+16+6*32 = 216.
	if got := p.Stats().Gets; got != 8 {
		t.Errorf("200 KB took %d chunks, want 8", got)
	}
	for range 20 {
		s.Get(10_000) // more blocks than a Scope has room for in itself
	}
	s.Close()
	if st := p.Stats(); st.InUseBytes != 0 || st.Puts != 28 {
		t.Errorf("%+v", st)
	}
}

func TestScopeOnClosedPool(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	p.Close()
	s := p.Scope()
	s.Get(100)[0] = 1
	s.Get(5000)[0] = 1
	s.Close()
	want := dewpond.Stats{Dropped: dewpond.DropStats{Closed: 2}}
	if offHeap { // what a closed pool gives is the Go heap's
		want = dewpond.Stats{Dropped: dewpond.DropStats{Fallback: 2}}
	}
	expect(t, p, want)
}

var escapedScope *dewpond.Scope

func TestScopeAllocations(t *testing.T) {
	notWatched(t, countsAlloc)
	if sanitized {
		t.Skip("a local Scope is on the heap here")
	}
	p := newPool(t, dewpond.BytePoolOptions{})
	local := allocsPerRun(1000, func() {
		s := p.Scope()
		for range 50 {
			s.Get(128)[0] = 1
		}
		dewpond.ScopeSlice[float64](s, 10)[0] = 1
		s.Copy([]byte("x"))
		s.Get(5000)
		s.Close()
	})
	escaping := allocsPerRun(1000, func() {
		s := p.Scope()
		escapedScope = s
		s.Get(128)[0] = 1
		s.Close()
	})
	if local != 0 || escaping != 1 {
		t.Errorf("%v allocations of a local Scope, want 0; %v of one that escapes, want 1", local, escaping)
	}
}

type plain struct {
	A int8
	B [3]struct {
		C float64
		D complex64
	}
	E uintptr
	F bool
}

func TestSlice(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	s := p.Scope()
	defer s.Close()
	s.Get(3)
	v := dewpond.ScopeSlice[plain](s, 5)
	s.Get(1)
	w := dewpond.ScopeSlice[int32](s, 3)
	if len(v) != 5 || cap(v) != 5 || uintptr(unsafe.Pointer(&v[0]))%unsafe.Alignof(v[0]) != 0 || v[4] != (plain{}) {
		t.Errorf("len %d, cap %d, at %p", len(v), cap(v), &v[0])
	}
	v[4].B[2].C = math.Inf(1)
	_ = append(v, v[4])
	w = append(w[:1], 1, 2)
	if v[4].B[2].C != math.Inf(1) || w[0] != 0 {
		t.Error("two slices overlap")
	}
	if got := dewpond.ScopeSlice[struct{}](s, 4); len(got) != 4 {
		t.Errorf("of no bytes: %d", len(got))
	}
	if got := dewpond.ScopeSlice[plain](s, 0); len(got) != 0 || got == nil {
		t.Errorf("none: %v", got)
	}
	if got := dewpond.ScopeSlice[[0]*int](s, 2); len(got) != 2 {
		t.Errorf("arrays without elements: %v", got)
	}
}

func TestSliceRefusesPointers(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	s := p.Scope()
	defer s.Close()
	type node struct{ Next *node }
	for name, use := range map[string]func(){
		"string":                   func() { dewpond.ScopeSlice[string](s, 1) },
		"[]int":                    func() { dewpond.ScopeSlice[[]int](s, 1) },
		"map[int]int":              func() { dewpond.ScopeSlice[map[int]int](s, 1) },
		"func()":                   func() { dewpond.ScopeSlice[func()](s, 1) },
		"interface {}":             func() { dewpond.ScopeSlice[any](s, 1) },
		"*int":                     func() { dewpond.ScopeSlice[*int](s, 1) },
		"chan int":                 func() { dewpond.ScopeSlice[chan int](s, 1) },
		"unsafe.Pointer":           func() { dewpond.ScopeSlice[unsafe.Pointer](s, 0) },
		"dewpond_test.node":        func() { dewpond.ScopeSlice[node](s, 1) },
		"[2]struct { X []string }": func() { dewpond.ScopeSlice[[2]struct{ X []string }](s, 1) },
	} {
		for range 2 { // the second time as well
			if text := panics(use); !strings.Contains(text, fmt.Sprintf("Slice of %s: it holds pointers", name)) {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	if got := dewpond.ScopeSlice[int](s, 1); len(got) != 1 {
		t.Error("a plain type is refused after all these")
	}
}

type panickingSource struct {
	*fakeSource
	panics bool
}

func (s *panickingSource) Alloc(size int) ([]byte, error) {
	if s.panics {
		panic("Source")
	}
	return s.fakeSource.Alloc(size)
}

// An Allocator that panics when a chunk is full leaves the Scope with what it had.
func TestScopeOutlivesPanics(t *testing.T) {
	leavesOut(t, "two blocks that show that the chunk came back once")
	source := &panickingSource{fakeSource: newFakeSource()}
	p := newPool(t, dewpond.BytePoolOptions{Memory: source})
	s := p.Scope()
	for range 4 {
		s.Get(2048)
	}
	source.panics = true
	if text := panics(func() { s.Get(2048) }); text != "Source" {
		t.Errorf("Get panics with %q", text)
	}
	source.panics = false
	s.Close()
	if a, b := p.Get(8192), p.Get(8192); &a[0] == &b[0] {
		t.Error("the chunk was put back twice")
	}
}

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

// TryGet of a Scope obeys AllocRate, which counts a chunk once.
func TestScopeTryGetObeysAllocRate(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
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

// An aligned has words that trap or tear where they are not aligned.
type aligned struct {
	n atomic.Int64
	_ float64
}

// Whatever was Put before, ScopeSlice is aligned: Put refuses what a block cannot be.
func TestScopeSliceIsAligned(t *testing.T) {
	notWatched(t, misuses)
	sizes := []int{64, 8 << 10, 16 << 10, 32 << 10, 40 << 10, 1 << 20} // of chunks, and of blocks that a Slice has alone
	p := newPool(t, dewpond.BytePoolOptions{Classes: sizes})
	for round := range 32 {
		offset := round%15 + 1
		for _, size := range sizes {
			array := make([]byte, size+16)
			p.Put(array[offset:][:size:size])
		}
		s := p.Scope()
		for _, n := range []int{1, 4, 100, 500, 1000, 2000, 2500, 60_000} {
			v := dewpond.ScopeSlice[aligned](s, n)
			if at := addressOf(v); at%8 != 0 {
				t.Fatalf("after a Put of slices at odd addresses, Slice of %d begins at %#x", n, at)
			}
			v[0].n.Add(1)
		}
		s.Close()
	}
	if s := p.Stats(); s.Dropped.Foreign != 32*uint64(len(sizes)) {
		t.Errorf("%d of %d slices at odd addresses were refused", s.Dropped.Foreign, 32*len(sizes))
	}
}

var sink []byte // what is stored here escapes

// BenchmarkScope is a piece of 128 B of a Scope of fifty, which is opened and closed
// around them, and its control a make of as much.
func BenchmarkScope(b *testing.B) {
	const pieces = 50
	p := newPool(b, dewpond.BytePoolOptions{})
	compareRounds(b, func(n int) {
		for range n / pieces {
			s := p.Scope()
			for range pieces {
				s.Get(128)[0] = 1
			}
			s.Close()
		}
	}, func(n int) {
		for range n / pieces {
			for range pieces {
				sink = make([]byte, 128)
				sink[0] = 1
			}
		}
	})
}
