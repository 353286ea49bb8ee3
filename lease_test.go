package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func TestLease(t *testing.T) {
	releasesTwice(t)
	if size := unsafe.Sizeof(dewpond.Lease{}); size > 16 {
		t.Errorf("a Lease has %d bytes", size)
	}
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{128, 1024, 64 << 10}})
	for _, n := range []int{0, 1, 100, 128, 129, 1024, 40_000, 64 << 10, 100_000} {
		l := p.Lease(n)
		b := l.Bytes()
		want := n
		for _, class := range []int{64 << 10, 1024, 128} {
			if 0 < n && n <= class {
				want = class
			}
		}
		if len(b) != n || cap(b) != want || l.Len() != n {
			t.Errorf("Lease(%d): len %d, cap %d, Len %d; want cap %d", n, len(b), cap(b), l.Len(), want)
		}
		for i, x := range b[:cap(b)] {
			if x != 0 {
				t.Fatalf("Lease(%d): byte %d is not zero", n, i)
			}
		}
		for i := range b[:cap(b)] {
			b[:cap(b)][i] = 0xff
		}
		if again := l.Bytes(); unsafe.SliceData(again) != unsafe.SliceData(b) {
			t.Errorf("Lease(%d): two calls of Bytes return two blocks", n)
		}
		if err := dewpond.Release(l); err != nil {
			t.Errorf("Release: %v", err)
		}
		if err := dewpond.Release(l); err != dewpond.ErrReleased {
			t.Errorf("the second Release: %v", err)
		}
		if text := panics(func() { l.Bytes() }); !strings.Contains(text, "Bytes of a Lease that was released") {
			t.Errorf("Bytes after Release panics with %q", text)
		}
		if text := panics(func() { l.Retain() }); !strings.Contains(text, "Retain of a Lease that was released") {
			t.Errorf("Retain after Release panics with %q", text)
		}
		if l.Len() != n {
			t.Errorf("Len after Release: %d", l.Len())
		}
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Gets != 8 || s.Puts != 8 || s.DoubleReleases != 9 || s.Dropped.Oversize != 1 || s.Dropped.Foreign != 0 {
		t.Errorf("%+v", s)
	}
}

func TestZeroLease(t *testing.T) {
	var l dewpond.Lease
	if err := dewpond.Release(l); err != dewpond.ErrReleased {
		t.Errorf("Release: %v", err)
	}
	if l.Len() != 0 || panics(func() { l.Bytes() }) == "" || panics(func() { l.Retain() }) == "" {
		t.Error("the zero Lease has bytes")
	}
}

func TestLeaseSizesThatCannotBeMeant(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	sizes := []int{-1, math.MinInt}
	if math.MaxInt > math.MaxUint32 {
		sizes = append(sizes, math.MaxInt)
	}
	for _, n := range sizes {
		if text := panics(func() { p.Lease(n) }); !strings.Contains(text, fmt.Sprintf("Lease(%d)", n)) || !strings.Contains(text, p.Name()) {
			t.Errorf("%d panics with %q", n, text)
		}
	}
}

// The sequence that breaks a handle which is reused without a generation, such as
// grpc's mem.Buffer: free, the handle gets another owner, and the first frees it again.
func TestStaleLeaseHarmsNobody(t *testing.T) {
	releasesTwice(t)
	p := newPool(t, dewpond.BytePoolOptions{})
	stale := p.Lease(100)
	copied := stale
	stale.Release()

	other := p.Lease(100) // the same handle and the same block, unless the P has changed
	copy(other.Bytes(), "other's")
	for _, l := range []dewpond.Lease{stale, copied} {
		if err := dewpond.Release(l); err != dewpond.ErrReleased {
			t.Errorf("stale Release: %v", err)
		}
		if panics(func() { l.Bytes() }) == "" {
			t.Error("a stale lease reads its successor's bytes")
		}
		if panics(func() { l.Retain() }) == "" {
			t.Error("a stale lease makes an owner of its successor's block")
		}
	}
	third := p.Lease(100)
	copy(third.Bytes(), "third's")
	if got := other.Bytes(); !bytes.HasPrefix(got, []byte("other's")) || unsafe.SliceData(got) == unsafe.SliceData(third.Bytes()) {
		t.Errorf("the stale lease gave away a block in use: %q", got[:10])
	}
	if err := errors.Join(dewpond.Release(other), dewpond.Release(third)); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Puts != 3 || s.DoubleReleases != 2 {
		t.Errorf("%+v", s)
	}
}

// Handles are reused: without that TestStaleLeaseHarmsNobody would show nothing.
func TestLeaseReusesHandles(t *testing.T) {
	notWatched(t, countsAlloc)
	p := newPool(t, dewpond.BytePoolOptions{})
	pair := func() { p.Lease(100).Release() }
	retain := func() {
		l := p.Lease(100)
		r := l.Retain()
		l.Release()
		rr := r.Retain()
		r.Release()
		rr.Release()
	}
	large := func() { p.Lease(100_000).Release() }
	for name, f := range map[string]func(){"pair": pair, "retain": retain, "large": large} {
		if n := allocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestRetain(t *testing.T) {
	releasesTwice(t)
	p := newPool(t, dewpond.BytePoolOptions{})
	a := p.Lease(100)
	copy(a.Bytes(), "shared")
	b := a.Retain()
	c := b.Retain()
	if a == b || b == c {
		t.Error("two owners have one handle")
	}
	inUse := func(want int64) {
		t.Helper()
		if s := p.Stats(); s.InUseBytes != want {
			t.Errorf("InUseBytes %d, want %d", s.InUseBytes, want)
		}
	}
	// The first owner, then the first again, then the others in turn.
	for i, l := range []dewpond.Lease{a, b, c} {
		inUse(128)
		if got := l.Bytes(); !bytes.HasPrefix(got, []byte("shared")) || l.Len() != 100 {
			t.Errorf("owner %d reads %q", i, got)
		}
		if err := dewpond.Release(l); err != nil {
			t.Errorf("owner %d: %v", i, err)
		}
		for range 3 { // harms no other owner
			if err := dewpond.Release(l); err != dewpond.ErrReleased {
				t.Errorf("owner %d again: %v", i, err)
			}
		}
		if panics(func() { l.Bytes() }) == "" || panics(func() { l.Retain() }) == "" {
			t.Errorf("owner %d still has bytes", i)
		}
	}
	inUse(0)
	if s := p.Stats(); s.Puts != 1 || s.DoubleReleases != 9 {
		t.Errorf("the block went back %d times, and %d Releases were refused", s.Puts, s.DoubleReleases)
	}
}

// Any order of Retains and Releases, by any owner, against a model that counts.
func TestLeaseFollowsModel(t *testing.T) {
	releasesTwice(t)
	leavesOut(t, "leases whose owners lose them")
	p := newPool(t, dewpond.BytePoolOptions{})
	type owner struct {
		lease dewpond.Lease
		block *byte
		live  bool
	}
	holders := map[*byte]int{}
	var owners []*owner
	seed := uint64(1)
	random := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	for range 200_000 {
		if len(owners) > 60 {
			owners = slices.Delete(owners, 0, 20) // some of them are lost unreleased
			holders = map[*byte]int{}
			for _, o := range owners {
				if o.live {
					holders[o.block]++
				}
			}
		}
		if len(owners) == 0 || random(4) == 0 {
			o := &owner{lease: p.Lease(100), live: true}
			o.block = unsafe.SliceData(o.lease.Bytes())
			if holders[o.block] != 0 {
				t.Fatal("a block that is in use was handed out")
			}
			holders[o.block]++
			owners = append(owners, o)
			continue
		}
		o := owners[random(len(owners))]
		switch random(3) {
		case 0:
			var r dewpond.Lease
			if refused := panics(func() { r = o.lease.Retain() }) != ""; refused == o.live {
				t.Fatalf("Retain by an owner that is live %v: refused %v", o.live, refused)
			}
			if o.live {
				holders[o.block]++
				owners = append(owners, &owner{r, o.block, true})
			}
		case 1:
			err := dewpond.Release(o.lease)
			if (err == nil) != o.live {
				t.Fatalf("Release by an owner that is live %v: %v", o.live, err)
			}
			if o.live {
				o.live = false
				holders[o.block]--
			}
		case 2:
			var b []byte
			if refused := panics(func() { b = o.lease.Bytes() }) != ""; refused == o.live {
				t.Fatalf("Bytes by an owner that is live %v: refused %v", o.live, refused)
			}
			if o.live && unsafe.SliceData(b) != o.block {
				t.Fatal("an owner's block has changed")
			}
		}
	}
}

// Many goroutines retain and release at once: the block goes back once, and no
// owner sees it change.
func TestLeaseConcurrently(t *testing.T) {
	releasesTwice(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	p := newPool(t, dewpond.BytePoolOptions{})
	const rounds, users = 300, 8
	for round := range rounds {
		root := p.Lease(64)
		root.Bytes()[0] = byte(round)
		var released atomic.Int64
		var wg go125.WaitGroup
		for range users {
			mine := root.Retain()
			wg.Go(func() {
				for range 10 {
					next := mine.Retain()
					if dewpond.Release(mine) == nil {
						released.Add(1)
					}
					mine = next
					if mine.Bytes()[0] != byte(round) {
						t.Error("the block changed under an owner")
					}
				}
				var both go125.WaitGroup
				for range 2 { // copies of one owner: one of them wins
					both.Go(func() {
						if dewpond.Release(mine) == nil {
							released.Add(1)
						}
					})
				}
				both.Wait()
			})
		}
		if dewpond.Release(root) != nil {
			t.Error("the first owner's Release fails")
		}
		wg.Wait()
		if n := released.Load(); n != users*11 {
			t.Fatalf("%d Releases of %d owners", n, users*11)
		}
	}
	if s := p.Stats(); s.Puts != rounds || s.InUseBytes != 0 {
		t.Errorf("%d blocks went back, want %d; %d bytes in use", s.Puts, rounds, s.InUseBytes)
	}
}

// A goroutine holds on to leases that others have long released, while the handles
// and blocks go round: it never reads a byte through one.
func TestStaleLeasesConcurrently(t *testing.T) {
	releasesTwice(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	p := newPool(t, dewpond.BytePoolOptions{})
	stale := make(chan dewpond.Lease, 100)
	var wg go125.WaitGroup
	for range 2 {
		wg.Go(func() {
			for l := range stale {
				if panics(func() { l.Bytes() }) == "" || dewpond.Release(l) != dewpond.ErrReleased {
					t.Error("a stale lease works")
				}
			}
		})
	}
	var users go125.WaitGroup
	for i := range 4 {
		users.Go(func() {
			for n := range 20_000 {
				l := p.Lease(64)
				b := l.Bytes()
				b[0] = byte(i)
				if n%16 == 0 {
					runtime.Gosched()
				}
				if b[0] != byte(i) {
					t.Error("two owners")
				}
				l.Release()
				select {
				case stale <- l:
				default:
				}
			}
		})
	}
	users.Wait()
	close(stale)
	wg.Wait()
}

// A handle whose generations are used up is not used again, and its leases stay
// invalid.
func TestLeaseGenerationsEnd(t *testing.T) {
	releasesTwice(t)
	leavesOut(t, "a hundred leases, which show the handles in use")
	for _, retain := range []bool{false, true} {
		p := newPool(t, dewpond.BytePoolOptions{})
		p.Lease(64).Release()
		l := p.Lease(64)
		last := dewpond.LastGeneration(l)
		if got := last.Bytes(); len(got) != 64 {
			t.Fatal("the last generation has no bytes")
		}
		if panics(func() { l.Bytes() }) == "" {
			t.Error("a lease is valid in another generation")
		}
		owners := []dewpond.Lease{last}
		if retain {
			owners = append(owners, last.Retain())
		}
		for _, o := range owners {
			if err := dewpond.Release(o); err != nil {
				t.Fatal(err)
			}
		}
		for _, old := range []dewpond.Lease{l, last, dewpond.FirstGeneration(l)} {
			if err := dewpond.Release(old); err != dewpond.ErrReleased || panics(func() { old.Bytes() }) == "" {
				t.Errorf("after the last generation, Release: %v", err)
			}
		}
		for range 100 {
			if again := p.Lease(64); dewpond.SameHandle(again, l) {
				t.Fatal("a handle is used beyond its last generation")
			}
		}
		if s := p.Stats(); s.Puts != 2 || s.DoubleReleases != 3 || s.Dropped.Foreign != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// Trim also lets go of what idle handles point to.
func TestTrimForgetsHandles(t *testing.T) {
	onlyOnHeap(t, "the collector does not have the blocks")
	p := newPool(t, dewpond.BytePoolOptions{})
	gone := make(chan struct{})
	p.Lease(1024).Release() // now the shards have room for both
	func() {
		l := p.Lease(1024)
		runtime.AddCleanup(&l.Bytes()[0], func(int) { close(gone) }, 0)
		l.Release()
	}()
	p.Trim()
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		default: // else the test runs into its timeout
		}
	}
}

// Idle handles keep no large blocks from the collector that the pool has let go,
// however short the leases were.
func TestIdleHandlesKeepNoLargeBlocks(t *testing.T) {
	onlyOnHeap(t, "the collector does not have the blocks")
	for _, length := range []int{32 << 10, 100} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{32 << 10}, MaxIdleBytes: 1 << 20})
		const n = 2000
		var gone atomic.Int64
		func() {
			leases, blocks := make([]dewpond.Lease, n), make([][]byte, n)
			for i := range leases {
				leases[i] = p.Lease(length)
				runtime.AddCleanup(&leases[i].Bytes()[0], func(int) { gone.Add(1) }, 0)
			}
			for i := range leases {
				leases[i].Release()
				blocks[i] = p.Get(length) // the block that the handle had
			}
			for _, b := range blocks {
				p.Put(b) // for most there is no room
			}
		}()
		for gone.Load() < n-100 { // else the test runs into its timeout
			runtime.GC()
		}
		runtime.KeepAlive(p)
	}
}

func TestLeaseAfterClose(t *testing.T) {
	releasesTwice(t)
	p := newPool(t, dewpond.BytePoolOptions{})
	a, b := p.Lease(100), p.Lease(200_000)
	p.Close()
	copy(a.Bytes(), "still mine")
	c := p.Lease(100)
	if err := errors.Join(dewpond.Release(a), dewpond.Release(b), dewpond.Release(c)); err != nil {
		t.Error(err)
	}
	want := dewpond.Stats{Dropped: dewpond.DropStats{Closed: 3}}
	if offHeap { // what a closed pool gives is the Go heap's
		want = dewpond.Stats{Dropped: dewpond.DropStats{Closed: 2, Fallback: 1}}
	}
	expect(t, p, want)
	if dewpond.Release(a) != dewpond.ErrReleased {
		t.Error("a second Release passes")
	}
}

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
		"of no class":               {make([]byte, 10, 100), dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		"of a class, not aligned":   {aligned[8:72:72], dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		"longer than its class":     {make([]byte, 70, 100), dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		"longer than all classes":   {make([]byte, 10, 100_000), dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1}}},
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
			c.want = dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}
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
	expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}})
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
		"Budget":    {Budget: dewpond.MustBudget("", 4096)},
		"AllocRate": {AllocRate: 1},
		"Source":    {Memory: source},
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
				if s := p.Stats(); s.InUseBytes != 4096 || s.Refused != 0 || s.OverBudget != 0 || s.OverAllocRate != 0 || s.OffHeap.Fallback != 0 {
					t.Errorf("%+v", s)
				}
				if o.Budget != nil && o.Budget.Used() != 4096 {
					t.Errorf("Used %d", o.Budget.Used())
				}
				l.Release()
				if o.AllocRate > 0 {
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
	if s := p.Stats(); s.Dropped.Oversize != 1 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
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
	if s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
		t.Errorf("%d bytes are in use, %d slices were foreign", s.InUseBytes, s.Dropped.Foreign)
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
			if s := p.Stats(); s.Dropped.Oversize != 1 {
				t.Errorf("%d were dropped as oversize", s.Dropped.Oversize)
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
	if s := p.Stats(); s.Puts != rounds || s.InUseBytes != 0 || s.Classes[4].Puts != rounds {
		t.Errorf("%d blocks came back, want %d of 1024 bytes; %d bytes in use", s.Puts, rounds, s.InUseBytes)
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

// BenchmarkLease is a Lease and its Release, and its control a Get and its Put of
// the same pool. part and retained have two owners.
func BenchmarkLease(b *testing.B) {
	p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	versus(b, "untouched", func(n int) {
		for range n {
			p.Lease(128).Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
	versus(b, "touched", func(n int) {
		for range n {
			l := p.Lease(128)
			l.Bytes()[0] = 1
			l.Release()
		}
	}, func(n int) {
		for range n {
			b := p.Get(128)
			b[0] = 1
			p.Put(b)
		}
	})
	versus(b, "two sizes", func(n int) {
		for range n / 2 {
			p.Lease(128).Release()
			p.Lease(1500).Release()
		}
	}, func(n int) {
		for range n / 2 {
			p.Put(p.Get(128))
			p.Put(p.Get(1500))
		}
	})
	versus(b, "of a block", func(n int) {
		for range n {
			p.LeaseOf(p.Get(128)).Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
	versus(b, "part", func(n int) {
		for range n {
			l := p.Lease(128)
			part := l.Slice(64, 128)
			l.Truncate(64).Release()
			part.Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
	versus(b, "retained", func(n int) {
		for range n {
			l := p.Lease(128)
			r := l.Retain()
			l.Release()
			r.Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
}
