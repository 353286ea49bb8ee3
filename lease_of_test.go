package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func TestLeaseContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 1024)
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses, Budget: budget})
		a, err := p.LeaseContext(t.Context(), 1000)
		if err != nil || len(a.Bytes()) != 1000 || cap(a.Bytes()) != 1024 {
			t.Fatalf("%v, %v", a, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if l, err := p.LeaseContext(ctx, 10); !errors.Is(err, context.DeadlineExceeded) || l != (dewpond.Lease{}) {
			t.Errorf("while the Budget is used up: %v, %v", l, err)
		}
		if l, err := p.LeaseContext(t.Context(), 1025); !errors.Is(err, dewpond.ErrExhausted) || l != (dewpond.Lease{}) {
			t.Errorf("more than the Budget: %v, %v", l, err)
		}
		go func() {
			time.Sleep(time.Minute)
			a.Release()
		}()
		start := time.Now()
		b, err := p.LeaseContext(t.Context(), 10)
		if err != nil || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if err := dewpond.Release(b); err != nil {
			t.Error(err)
		}
		p.Close()
		if l, err := p.LeaseContext(t.Context(), 10); err != dewpond.ErrClosed || l != (dewpond.Lease{}) {
			t.Errorf("after Close: %v, %v", l, err)
		}
	})
}

// A block becomes a Lease with the slice's length and cap, whatever part of it is used,
// and comes back to its class.
func TestLeaseOf(t *testing.T) {
	releasesTwice(t)
	for _, size := range []int{64, 100, 1024, 40_000, 64 << 10} {
		for _, length := range []int{0, 1, 64, 65, size} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
			b := p.Get(size)
			class := cap(b)
			l := p.LeaseOf(b[:min(length, size)])
			if s := p.Stats(); s.Gets != 1 || s.InUseBytes != int64(class) {
				t.Errorf("LeaseOf counts: %+v", s)
			}
			for _, l := range []dewpond.Lease{l, l.Retain()} {
				got := l.Bytes()
				if len(got) != min(length, size) || cap(got) != class || unsafe.SliceData(got) != unsafe.SliceData(b) || l.Len() != len(got) {
					t.Errorf("LeaseOf %d of %d: len %d, cap %d", length, class, len(got), cap(got))
				}
				if err := dewpond.Release(l); err != nil {
					t.Error(err)
				}
				if err := dewpond.Release(l); err != dewpond.ErrReleased {
					t.Errorf("a second Release: %v", err)
				}
			}
			wantPuts(t, p, class)
		}
	}
}

// What is no block is a Lease within its cap, and is dropped and counted as Put does.
func TestLeaseOfNoBlock(t *testing.T) {
	notWatched(t, putsForeign)
	aligned := make([]byte, 4096)
	for name, c := range map[string]struct {
		b    []byte
		want dewpond.Stats
	}{
		"of no class":               {make([]byte, 10, 100), dewpond.Stats{DroppedForeign: 1}},
		"of a class, not aligned":   {aligned[8:72:72], dewpond.Stats{DroppedForeign: 1}},
		"longer than its class":     {make([]byte, 70, 100), dewpond.Stats{DroppedForeign: 1}},
		"longer than all classes":   {make([]byte, 10, 100_000), dewpond.Stats{DroppedOversize: 1}},
		"nothing":                   {nil, dewpond.Stats{}},
		"small, with a class's cap": {aligned[:3:64], dewpond.Stats{IdleBytes: 64}}, // as good as a block
	} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
		l := p.LeaseOf(c.b)
		part, other := l.Slice(0, len(c.b)/2), l.Retain()
		for _, l := range []dewpond.Lease{l, other} {
			if b := l.Bytes(); len(b) != len(c.b) || cap(b) != cap(c.b) || unsafe.SliceData(b) != unsafe.SliceData(c.b) {
				t.Errorf("%s: len %d, cap %d", name, len(b), cap(b))
			}
		}
		if b := part.Bytes(); len(b) != len(c.b)/2 || cap(b) != len(b) {
			t.Errorf("%s: the part has len %d, cap %d", name, len(b), cap(b))
		}
		expect(t, p, dewpond.Stats{})
		if err := errors.Join(dewpond.Release(l), dewpond.Release(part)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		expect(t, p, dewpond.Stats{})
		if err := dewpond.Release(other); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if offHeap && c.want.IdleBytes > 0 {
			c.want = dewpond.Stats{DroppedForeign: 1}
		}
		t.Run(name, func(t *testing.T) { expect(t, p, c.want) })
	}
}

// A lease of nothing gives back nothing, whatever its handle had before.
func TestLeaseOfNothingAfterSomething(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	for range 10 {
		p.LeaseOf(p.Get(128)[:1]).Release()
		l := p.Lease(0)
		if b := l.Bytes(); len(b) != 0 || cap(b) != 0 {
			t.Errorf("len %d, cap %d", len(b), cap(b))
		}
		part := l.Slice(0, 0)
		if err := errors.Join(dewpond.Release(l), dewpond.Release(part)); err != nil {
			t.Error(err)
		}
	}
	if s := p.Stats(); s.Gets != 10 || s.Puts != 10 {
		t.Errorf("%+v", s)
	}
}

// A Budget does not let what it has not handed out pass for a block, and gets back what it
// charged for a slice above the largest class.
func TestLeaseOfWithBudget(t *testing.T) {
	notWatched(t, putsForeign)
	budget := dewpond.MustBudget("", 1<<20)
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses, Budget: budget})
	p.LeaseOf(make([]byte, 64)).Release()
	expect(t, p, dewpond.Stats{DroppedForeign: 1})
	l := p.LeaseOf(p.Get(100_000)[:10])
	if budget.Used() != 100_000 {
		t.Errorf("%d bytes are charged", budget.Used())
	}
	l.Truncate(3).Release()
	if budget.Used() != 0 {
		t.Errorf("%d bytes are charged after Release", budget.Used())
	}
}

func TestLeaseOfTooLong(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no slice is that long")
	}
	long := []byte{0}
	header := (*[3]uintptr)(unsafe.Pointer(&long)) // address, length and cap
	header[1] += math.MaxUint32                    // 4 GiB
	header[2] = header[1]
	p := newPool(t, dewpond.BytePoolOptions{})
	if text := panics(func() { p.LeaseOf(long) }); !strings.Contains(text, fmt.Sprintf("LeaseOf(%d)", uint64(1)<<32)) || !strings.Contains(text, p.Name()) {
		t.Errorf("panics with %q", text)
	}
}

// The zero pool's leases are its stand-in's.
func TestLeaseOfZeroPool(t *testing.T) {
	var p dewpond.BytePool
	l := p.LeaseOf(p.Get(100))
	part := l.Slice(10, 20)
	if err := errors.Join(dewpond.Release(l), dewpond.Release(part)); err != nil {
		t.Error(err)
	}
	wantPuts(t, &p, 128)
	p.Close()
}

// In a steady state none of the ways to a Lease allocates.
func TestLeasesOfAllKindsReuseHandles(t *testing.T) {
	notWatched(t, countsAlloc)
	p := newPool(t, dewpond.BytePoolOptions{})
	var buffer dewpond.Buffer
	for name, f := range map[string]func(){
		"LeaseOf":      func() { p.LeaseOf(p.Get(1000)[:10]).Release() },
		"LeaseContext": func() { l, _ := p.LeaseContext(t.Context(), 1000); l.Release() },
		"Slice": func() {
			l := p.Lease(1000)
			part := l.Slice(500, 600)
			l.Truncate(3).Release()
			part.Release()
		},
		"Buffer": func() {
			buffer.WriteString("some text")
			buffer.ReadByte()
			buffer.Lease().Release()
		},
	} {
		f()
		if n := allocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A Buffer's Lease is its unread part, without a copy where its block fits, and takes the block with it.
func TestBufferLease(t *testing.T) {
	for _, read := range []int{0, 1, 16, 500, 743} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
		b := p.Buffer()
		b.Write(make([]byte, 1000))
		copy(b.Bytes()[read:], "rest")
		b.Next(read)
		want := b.Bytes()
		l := b.Lease()
		got := l.Bytes()
		if len(got) != 1000-read || cap(got) != len(got) || l.Len() != len(got) || len(got) > 0 && &got[0] != &want[0] {
			t.Errorf("with %d read: len %d, cap %d", read, len(got), cap(got))
		}
		if b.Len() != 0 || b.Cap() != 0 || b.UnreadByte() == nil {
			t.Errorf("the Buffer has %d bytes of %d", b.Len(), b.Cap())
		}
		b.Release() // has nothing to give back
		b.WriteString("other")
		if string(got[:min(4, len(got))]) != "rest"[:min(4, len(got))] {
			t.Errorf("the Lease has %q after a Write to the Buffer", got)
		}
		if s := p.Stats(); s.InUseBytes != 1024+512 {
			t.Errorf("%d bytes are in use", s.InUseBytes)
		}
		if err := dewpond.Release(l); err != nil {
			t.Error(err)
		}
		b.Release()
		wantPuts(t, p, 1024, 512)
	}
}

func TestLeaseOfEmptyBuffer(t *testing.T) {
	releasesTwice(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	buffers := map[string]*dewpond.Buffer{"new": p.Buffer(), "released": p.Buffer(), "truncated": p.Buffer(), "read": p.Buffer(), "zero": {}}
	for _, name := range []string{"released", "truncated", "read"} {
		buffers[name].WriteString("text")
	}
	buffers["released"].Release()
	buffers["truncated"].Truncate(0)
	buffers["read"].Next(4)
	for name, b := range buffers {
		l := b.Lease()
		if got := l.Bytes(); len(got) != 0 || cap(got) != 0 || l.Len() != 0 {
			t.Errorf("%s: len %d, cap %d", name, len(got), cap(got))
		}
		part := l.Slice(0, 0)
		if err := errors.Join(dewpond.Release(l), dewpond.Release(part)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if dewpond.Release(l) != dewpond.ErrReleased {
			t.Errorf("%s: a second Release passes", name)
		}
		if b.Len() != 0 || b.Cap() != 0 {
			t.Errorf("%s: the Buffer has %d bytes of %d", name, b.Len(), b.Cap())
		}
	}
	wantPuts(t, p, 512, 512, 512)
}

// A Lease copies to a block that fits from one that is two classes larger or more than twice as large, and puts that back.
func TestBufferLeaseFits(t *testing.T) {
	for _, tt := range []struct {
		classes  []int
		block, n int
		want     int // the block of the Lease
	}{
		{partClasses, 1024, 513, 1024},
		{partClasses, 1024, 257, 1024}, // one class larger
		{partClasses, 1024, 256, 256},
		{partClasses, 1024, 1, 64},
		{partClasses, 2048, 2048, 2048},
		{partClasses, 64 << 10, 2049, 64 << 10},
		{partClasses, 64 << 10, 2048, 2048}, // one class larger, and 32 times as large
		{partClasses, 64 << 10, 10, 64},
		{partClasses, 64 << 10, 0, 0},
		{partClasses, 100_000, 66_000, 100_000}, // above the largest class
		{partClasses, 100_000, 65_000, 100_000},
		{partClasses, 140_000, 65_000, 64 << 10},
		{partClasses, 100_000, 100, 128},
		{[]int{1024}, 1024, 1, 1024},
		{nil, 32 << 10, 24_577, 32 << 10},
		{nil, 32 << 10, 20_481, 24 << 10},
		{nil, 32 << 10, 100, 128},
	} {
		for _, read := range []int{0, 100} {
			if read+tt.n > tt.block {
				continue
			}
			p := newPool(t, dewpond.BytePoolOptions{Classes: tt.classes})
			b := p.Buffer()
			b.Grow(tt.block)
			b.Write(make([]byte, read))
			text := bytes.Repeat([]byte("a"), tt.n)
			b.Write(text)
			b.Next(read)
			before, data := p.Stats(), unsafe.SliceData(b.Bytes())
			l := b.Lease()
			if s := p.Stats(); tt.block <= p.Stats().Classes[len(s.Classes)-1].Size && s.InUseBytes != int64(tt.want) {
				t.Errorf("%d bytes of a block of %d: the Lease holds %d, want %d", tt.n, tt.block, s.InUseBytes, tt.want)
			}
			got, copied := l.Bytes(), tt.want != tt.block
			if !bytes.Equal(got, text) || cap(got) != tt.n || b.Len() != 0 || b.Cap() != 0 {
				t.Errorf("%d bytes of a block of %d: %d bytes of %d, and the Buffer has %d of %d", tt.n, tt.block, len(got), cap(got), b.Len(), b.Cap())
			}
			s := p.Stats().Sub(before)
			if gets, puts := s.Gets, s.Puts; tt.n > 0 && (copied != (unsafe.SliceData(got) != data) || copied != (gets == 1) || copied != (puts == 1)) {
				t.Errorf("%d bytes of a block of %d: %d Gets and %d Puts, another block: %v", tt.n, tt.block, gets, puts, unsafe.SliceData(got) != data)
			}
			b.WriteString("other")
			b.Release()
			if err := dewpond.Release(l); err != nil {
				t.Errorf("%d bytes of a block of %d: Release: %v", tt.n, tt.block, err)
			}
			if s := p.Stats(); s.InUseBytes != 0 || s.Gets != s.Puts {
				t.Errorf("%d bytes of a block of %d: %+v", tt.n, tt.block, s)
			}
		}
	}
}

// Leases that are kept hold little more than their bytes, however large the blocks were that their Buffers began with: a
// compressor's first Write is a header of a few bytes.
func TestKeptLeasesFit(t *testing.T) {
	for name, o := range map[string]dewpond.BytePoolOptions{
		"default":  {},
		"budget":   {Budget: dewpond.MustBudget("", 64<<20)},
		"any size": {Classes: []int{100, 200, 400, 600, 1000, 1500, 2000, 3000, 5000, 7000, 10_000, 20_000, 40_000, 65_000}},
		"never":    {Zero: dewpond.ZeroNever},
	} {
		t.Run(name, func(t *testing.T) {
			if offHeap && o.Classes != nil {
				t.Skip("off the heap classes are multiples of 16")
			}
			rng := rand.New(rand.NewPCG(1, 2))
			p := newPool(t, o)
			table := p.Stats().Classes
			var kept []dewpond.Lease
			var need, held int64
			for i := range 4096 {
				n := []int{200, 500, 1500, 6000, 20_000}[rng.IntN(5)]
				n = n/2 + rng.IntN(n)
				b := p.Buffer()
				b.Write([]byte("a header"))
				for b.Len() < n {
					b.Write(make([]byte, min(240, n-b.Len())))
				}
				kept = append(kept, b.Lease())
				if len(kept) > 1024 {
					kept[0].Release()
					kept = kept[1:]
				}
				if i%512 != 511 {
					continue
				}
				if need = 0; len(kept) == 0 {
					t.Fatal("nothing is kept")
				}
				for _, l := range kept {
					class := slices.IndexFunc(table, func(c dewpond.ClassStats) bool { return c.Size >= l.Len() })
					need += int64(table[class].Size)
				}
				if held = p.Stats().InUseBytes; float64(held) > 1.35*float64(need) {
					t.Errorf("%d Leases hold %d bytes, their classes %d: %.2f times", len(kept), held, need, float64(held)/float64(need))
				}
			}
			t.Logf("%d Leases hold %d bytes, their classes %d: %.2f times", len(kept), held, need, float64(held)/float64(need))
			for _, l := range kept {
				l.Release()
			}
			if s := p.Stats(); s.InUseBytes != 0 || s.OverBudget != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Where no other block may be allocated, a Lease keeps the Buffer's, and is neither refused nor goes past a limit.
func TestBufferLeaseKeepsItsBlock(t *testing.T) {
	source := newFakeSource()
	for name, o := range map[string]dewpond.BytePoolOptions{
		"Budget":     {Budget: dewpond.MustBudget("", 4096)},
		"AllocLimit": {AllocLimit: 1},
		"Source":     {Memory: source},
	} {
		for _, try := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " try ", try), func(t *testing.T) {
				o.Classes = []int{64, 512, 4096}
				p := newPool(t, o)
				buffer := p.Buffer
				if try {
					buffer = p.TryBuffer
				}
				b := buffer()
				b.Grow(4096)
				b.WriteString("text")
				at := unsafe.SliceData(b.Bytes())
				source.fail = errNoMemory
				l := b.Lease()
				source.fail = nil
				if got := l.Bytes(); string(got) != "text" || unsafe.SliceData(got) != at {
					t.Errorf("the Lease has %q, on another block: %v", got, unsafe.SliceData(got) != at)
				}
				if s := p.Stats(); s.InUseBytes != 4096 || s.Refused != 0 || s.OverBudget != 0 || s.OverLimit != 0 || s.HeapFallback != 0 {
					t.Errorf("%+v", s)
				}
				if o.Budget != nil && o.Budget.Used() != 4096 {
					t.Errorf("Used %d", o.Budget.Used())
				}
				l.Release()
				if o.AllocLimit > 0 {
					return
				}
				p.Trim()
				p.Put(p.Get(64)) // idle: needs no other
				small := buffer()
				small.Grow(512)
				small.WriteString("text")
				l = small.Lease()
				if s := p.Stats(); s.InUseBytes != 64 {
					t.Errorf("with a block that is idle the Lease holds %d bytes", s.InUseBytes)
				}
				l.Release()
			})
		}
	}
}

// A Buffer that has outgrown the classes hands its memory over all the same.
func TestLeaseOfLargeBuffer(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	b := p.Buffer()
	b.Write(make([]byte, 100_000))
	b.Next(99_000)
	l := b.Lease()
	if len(l.Bytes()) != 1000 {
		t.Errorf("%d bytes", len(l.Bytes()))
	}
	if err := dewpond.Release(l); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.DroppedOversize != 1 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
}

func TestReturn(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	b := p.Get(100)
	p.Return(&b)
	if b != nil || cap(b) != 0 {
		t.Errorf("the variable has %d bytes", cap(b))
	}
	p.Return(&b) // puts back nil, which does nothing
	expect(t, p, dewpond.Stats{IdleBytes: 128})
	if s := p.Stats(); s.Puts != 1 {
		t.Errorf("%d Puts", s.Puts)
	}
	if n := allocsPerRun(100, func() { b := p.Get(100); p.Return(&b) }); n != 0 && !watched {
		t.Errorf("%v allocations", n)
	}
}

// A Put that panics in a report has taken the block, and the variable is nil.
func TestReturnThatPanics(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(dewpond.Violation) { panic("reported") }})
	b := p.Get(100)
	again := b
	p.Return(&b)
	if text := panics(func() { p.Return(&again) }); text != "reported" || again != nil {
		t.Errorf("panics with %q, and the variable has %d bytes", text, cap(again))
	}
}

// A lease of no bytes takes nothing over from the handle's last lease, and Put gets nothing.
func TestEmptyLeaseHasNoSize(t *testing.T) {
	notWatched(t, putsForeign)
	p := newPool(t, dewpond.BytePoolOptions{})
	for range 100 {
		b := make([]byte, 1000, 1<<13+16) // no class
		if err := dewpond.Release(p.LeaseOf(b)); err != nil {
			t.Fatal(err)
		}
		before := p.Stats()
		l := p.Lease(0)
		if b := l.Bytes(); b == nil || cap(b) != 0 {
			t.Fatalf("%d bytes of %d", len(b), cap(b))
		}
		if err := dewpond.Release(l); err != nil {
			t.Fatal(err)
		}
		if s := p.Stats().Sub(before); s.Gets+s.Puts != 0 {
			t.Fatalf("%d Gets and %d Puts", s.Gets, s.Puts)
		}
	}
}
