package dewpond_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// partClasses has classes that are halves, quarters and eighths of others, so that a part
// which came back in place of its block would pass for a block.
var partClasses = []int{64, 128, 256, 512, 1024, 2048, 64 << 10}

// wantPuts checks that what came back is blocks of these sizes, and nothing else.
func wantPuts(t *testing.T, p *dewpond.BytePool, sizes ...int) {
	t.Helper()
	s := p.Stats()
	for _, c := range s.Classes {
		want := uint64(0)
		for _, size := range sizes {
			if size == c.Size {
				want++
			}
		}
		if c.Puts != want {
			t.Errorf("%d blocks of %d bytes came back, want %d", c.Puts, c.Size, want)
		}
	}
	if s.InUseBytes != 0 || s.DroppedForeign != 0 {
		t.Errorf("%d bytes are in use, %d slices were foreign", s.InUseBytes, s.DroppedForeign)
	}
}

// A truncated lease gives back the block that it was cut from, not one of its own length.
func TestTruncatedLeaseGivesBackItsBlock(t *testing.T) {
	for _, size := range []int{1024, 1000, 513} {
		for _, n := range []int{64, 10, 1, 0, 512} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
			l := p.Lease(size)
			base := unsafe.SliceData(l.Bytes())
			l = l.Truncate(n)
			if b := l.Bytes(); len(b) != n || cap(b) != n || l.Len() != n || unsafe.SliceData(b) != base {
				t.Errorf("Truncate(%d) of %d: len %d, cap %d, Len %d", n, size, len(b), cap(b), l.Len())
			}
			if err := dewpond.Release(l); err != nil {
				t.Error(err)
			}
			wantPuts(t, p, 1024)
		}
	}
}

// The last owner gives back the whole block, from its start, also if it owns but a part.
func TestPartGivesBackItsBlock(t *testing.T) {
	releasesTwice(t)
	for _, part := range [][2]int{{0, 64}, {64, 128}, {960, 1024}, {512, 1024}, {16, 80}, {1, 2}, {0, 1024}, {1024, 1024}, {0, 0}} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
		l := p.Lease(1024)
		whole := l.Bytes()
		for i := range whole {
			whole[i] = byte(i * 7)
		}
		i, j := part[0], part[1]
		s := l.Slice(i, j)
		if err := dewpond.Release(l); err != nil {
			t.Error(err)
		}
		b := s.Bytes()
		if len(b) != j-i || cap(b) != j-i || s.Len() != j-i || string(b) != string(whole[i:j]) {
			t.Errorf("Slice(%d, %d): len %d, cap %d, Len %d", i, j, len(b), cap(b), s.Len())
		}
		if j > i && &b[0] != &whole[i] {
			t.Errorf("Slice(%d, %d) begins elsewhere", i, j)
		}
		if at := unsafe.SliceData(b); i == j && at != &whole[0] {
			t.Error("an empty part points to other memory than its block's")
		}
		if n := p.Stats().InUseBytes; n != 1024 {
			t.Errorf("%d bytes are in use while a part is owned", n)
		}
		if err := dewpond.Release(s); err != nil {
			t.Error(err)
		}
		if err := dewpond.Release(s); err != dewpond.ErrReleased {
			t.Errorf("a second Release of a part: %v", err)
		}
		wantPuts(t, p, 1024)
	}
}

// A lease of a lease of a lease: indices are relative to Bytes, caps end where parts do,
// and whoever is last gives back the block.
func TestPartsOfParts(t *testing.T) {
	const n = 1000
	for last := range 7 {
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
		a := p.Lease(n)
		for i := range a.Bytes() {
			a.Bytes()[i] = byte(i)
		}
		b := a.Slice(100, 900)
		c := b.Slice(10, 20)
		d := c.Retain()
		e := b.Truncate(300).Slice(200, 300)
		f := a.Truncate(50).Retain()
		g := f.Slice(50, 50)
		leases := []dewpond.Lease{a, b, c, d, e, f, g}
		from, length, capacity := []int{0, 100, 110, 110, 300, 0, 50}, []int{n, 800, 10, 10, 100, 50, 0}, []int{1024, 800, 10, 10, 100, 50, 0}
		check := func(k int) {
			t.Helper()
			got := leases[k].Bytes()
			if len(got) != length[k] || cap(got) != capacity[k] || leases[k].Len() != length[k] {
				t.Errorf("lease %d: len %d, cap %d, want %d and %d", k, len(got), cap(got), length[k], capacity[k])
			}
			for i, x := range got {
				if x != byte(from[k]+i) {
					t.Fatalf("lease %d: byte %d is %d", k, i, x)
				}
			}
		}
		for k := range leases {
			check(k)
		}
		for k := range leases {
			if k == last {
				continue
			}
			if err := dewpond.Release(leases[k]); err != nil {
				t.Errorf("lease %d: %v", k, err)
			}
			check(last)
		}
		if s := p.Stats(); s.Puts != 0 {
			t.Errorf("%d Puts while lease %d has not released", s.Puts, last)
		}
		if err := dewpond.Release(leases[last]); err != nil {
			t.Error(err)
		}
		wantPuts(t, p, 1024)
	}
}

// A truncated lease and the lease that it was cut from are one owner.
func TestTruncateMakesNoOwner(t *testing.T) {
	releasesTwice(t)
	for _, first := range []bool{false, true} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
		l := p.Lease(1024)
		cut := l.Truncate(64)
		if b := l.Bytes(); len(b) != 1024 || cap(b) != 1024 {
			t.Errorf("Truncate changed the lease: len %d, cap %d", len(b), cap(b))
		}
		one, two := cut, l
		if first {
			one, two = l, cut
		}
		if err := dewpond.Release(one); err != nil {
			t.Error(err)
		}
		if err := dewpond.Release(two); err != dewpond.ErrReleased {
			t.Errorf("the other of one owner's leases: %v", err)
		}
		if panics(func() { two.Bytes() }) == "" {
			t.Error("the other of one owner's leases still has bytes")
		}
		wantPuts(t, p, 1024)
	}
}

// Cut to the length that it has, a lease ends there too.
func TestTruncateToTheSameLength(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	l := p.Lease(1000)
	same := l.Truncate(1000)
	if a, b := cap(l.Bytes()), cap(same.Bytes()); a != 1024 || b != 1000 {
		t.Errorf("caps %d and %d", a, b)
	}
	if b := append(same.Bytes(), 1); &b[0] == &l.Bytes()[0] || l.Bytes()[:1001][1000] != 0 {
		t.Error("append to a truncated lease's bytes wrote behind them")
	}
	l.Release()
}

func TestPartsOutOfRange(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	l := p.Lease(100)
	for _, part := range [][2]int{{-1, 5}, {0, 101}, {5, 4}, {101, 101}, {0, 128}, {math.MinInt, 0}, {0, math.MaxInt}, {-1, -1}} {
		want := fmt.Sprintf("Slice(%d, %d) of a Lease of 100 bytes", part[0], part[1])
		if text := panics(func() { l.Slice(part[0], part[1]) }); !strings.Contains(text, want) {
			t.Errorf("panics with %q, want %q", text, want)
		}
	}
	for _, n := range []int{-1, 101, 128, math.MaxInt, math.MinInt} {
		want := fmt.Sprintf("Truncate(%d) of a Lease of 100 bytes", n)
		if text := panics(func() { l.Truncate(n) }); !strings.Contains(text, want) {
			t.Errorf("panics with %q, want %q", text, want)
		}
	}
	short := l.Truncate(10)
	if panics(func() { short.Slice(0, 11) }) == "" || panics(func() { short.Truncate(11) }) == "" {
		t.Error("a truncated lease reaches beyond its end")
	}
	l.Release() // nobody else owns anything: all of the above made no owner
	wantPuts(t, p, 128)
}

// Released and zero leases have no parts, wherever the indices are.
func TestPartsOfReleasedLeases(t *testing.T) {
	releasesTwice(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	l := p.Lease(100)
	part, cut := l.Slice(10, 20), l.Truncate(5)
	l.Release()
	part.Release()
	other := p.Lease(100) // with a handle that was used before
	for _, stale := range []dewpond.Lease{l, part, cut, {}} {
		if text := panics(func() { stale.Slice(0, 0) }); !strings.Contains(text, "Slice of a Lease that was released") {
			t.Errorf("Slice panics with %q", text)
		}
		if text := panics(func() { stale.Truncate(0) }); !strings.Contains(text, "Truncate of a Lease that was released") {
			t.Errorf("Truncate panics with %q", text)
		}
		if err := dewpond.Release(stale); err != dewpond.ErrReleased {
			t.Errorf("Release: %v", err)
		}
	}
	if l.Len() != 100 || part.Len() != 10 || cut.Len() != 5 {
		t.Error("Len has changed with Release")
	}
	other.Release()
}

// Leases above the largest class are cut and shared like others, and dropped once, whole.
func TestPartsOfLargeLeases(t *testing.T) {
	budget := dewpond.MustBudget("", 1<<20)
	for _, n := range []int{40_000, 100_000} { // of a large class, and of none
		p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses, Budget: budget})
		l := p.Lease(n)
		copy(l.Bytes()[n-4:], "tail")
		part := l.Slice(n-4, n)
		l = l.Truncate(64)
		if err := dewpond.Release(l); err != nil {
			t.Error(err)
		}
		if string(part.Bytes()) != "tail" || cap(part.Bytes()) != 4 {
			t.Errorf("the part is %q, with a cap of %d", part.Bytes(), cap(part.Bytes()))
		}
		if budget.Used() < int64(n) {
			t.Errorf("%d bytes are charged while a part of %d is owned", budget.Used(), n)
		}
		if err := dewpond.Release(part); err != nil {
			t.Error(err)
		}
		want := []int{64 << 10}
		if n > 64<<10 {
			want = nil
			if s := p.Stats(); s.DroppedOversize != 1 {
				t.Errorf("%d were dropped as oversize", s.DroppedOversize)
			}
		}
		wantPuts(t, p, want...)
		p.Trim()
		if budget.Used() != 0 {
			t.Errorf("%d bytes are charged after the last Release", budget.Used())
		}
	}
}

// One read, many messages, each released by somebody else, while copies of the first
// owner are truncated and released: the block goes back once, whole, and no part changes
// under its owner.
func TestPartsConcurrently(t *testing.T) {
	releasesTwice(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	const rounds, parts = 500, 8
	for round := range rounds {
		l := p.Lease(1024)
		for i := range l.Bytes() {
			l.Bytes()[i] = byte(i/64 + round)
		}
		var wg go125.WaitGroup
		for k := range parts {
			mine := l.Slice(64*k, 64*k+64)
			wg.Go(func() {
				halves := []dewpond.Lease{mine.Slice(0, 32), mine.Slice(32, 64), mine.Truncate(1)}
				if dewpond.Release(halves[2]) != nil {
					t.Error("a part's Release fails")
				}
				for _, half := range halves[:2] {
					wg.Go(func() {
						for _, x := range half.Bytes() {
							if x != byte(k+round) {
								t.Error("a part has changed under its owner")
								break
							}
						}
						if dewpond.Release(half) != nil {
							t.Error("a part's Release fails")
						}
					})
				}
			})
		}
		var released atomic.Int64
		for _, cut := range []dewpond.Lease{l, l.Truncate(64), l.Truncate(1)} { // of copies of one owner, one releases
			wg.Go(func() {
				if dewpond.Release(cut) == nil {
					released.Add(1)
				}
			})
		}
		wg.Wait()
		if released.Load() != 1 {
			t.Fatalf("%d copies of one owner have released", released.Load())
		}
	}
	if s := p.Stats(); s.Puts-s.DroppedDouble != rounds || s.InUseBytes != 0 || s.Classes[4].Puts != rounds {
		t.Errorf("%d blocks came back, want %d of 1024 bytes; %d bytes in use", s.Puts-s.DroppedDouble, rounds, s.InUseBytes)
	}
}

// Slice, Retain and Truncate of one copy while another is released: either all of it
// happens before, or it panics; nobody else's block is touched.
func TestPartsWhileReleased(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	p := newPool(t, dewpond.BytePoolOptions{Classes: partClasses})
	for round := range 5000 {
		l := p.Lease(256)
		start := make(chan struct{})
		var wg go125.WaitGroup
		wg.Go(func() {
			<-start
			l.Release()
			other := p.Lease(64) // with the same handle, of another class
			other.Bytes()[0] = 1
			other.Release()
		})
		wg.Go(func() {
			<-start
			var part dewpond.Lease
			if panics(func() {
				switch round % 3 {
				case 0:
					part = l.Slice(128, 192)
				case 1:
					part = l.Retain()
				case 2:
					part = l.Truncate(64).Slice(0, 32)
				}
			}) == "" && (len(part.Bytes()) != part.Len() || dewpond.Release(part) != nil) {
				t.Error("an owner that was made has nothing")
			}
		})
		close(start)
		wg.Wait()
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Classes[2].Puts != 5000 || s.Classes[0].Puts != 5000 {
		t.Errorf("%+v", s)
	}
}
