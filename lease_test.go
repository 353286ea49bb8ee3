package dewpond_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
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
	if s := p.Stats(); s.InUseBytes != 0 || s.Gets != 8 || s.Puts != 17 || s.DroppedDouble != 9 || s.DroppedOversize != 1 || s.DroppedForeign != 0 {
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
		try := func() {
			if _, err := p.TryLease(n); err != nil && n > 0 {
				panic(err.Error())
			}
		}
		for _, text := range []string{panics(func() { p.Lease(n) }), panics(try)} {
			if !strings.Contains(text, fmt.Sprintf("Lease(%d)", n)) || !strings.Contains(text, p.Name()) {
				t.Errorf("%d panics with %q", n, text)
			}
		}
	}
}

func TestTryLease(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{AllocLimit: 1})
	a, err := p.TryLease(100)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := p.TryLease(100); !errors.Is(err, dewpond.ErrExhausted) || b != (dewpond.Lease{}) {
		t.Errorf("past AllocLimit: %v, %v", b, err)
	}
	a.Bytes()[0] = 1
	if err := dewpond.Release(a); err != nil {
		t.Error(err)
	}
	b, err := p.TryLease(100)
	if err != nil || b.Bytes()[0] != 0 {
		t.Errorf("after Release: %v", err)
	}
	b.Release()
	p.Close()
	if _, err := p.TryLease(100); err != dewpond.ErrClosed {
		t.Errorf("after Close: %v", err)
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
	if s := p.Stats(); s.InUseBytes != 0 || s.Puts-s.DroppedDouble != 3 || s.DroppedDouble != 2 {
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
	if s := p.Stats(); s.Puts-s.DroppedDouble != 1 || s.DroppedDouble != 9 {
		t.Errorf("the block went back %d times, and %d Releases were refused", s.Puts-s.DroppedDouble, s.DroppedDouble)
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
	if s := p.Stats(); s.Puts-s.DroppedDouble != rounds || s.InUseBytes != 0 {
		t.Errorf("%d blocks went back, want %d; %d bytes in use", s.Puts-s.DroppedDouble, rounds, s.InUseBytes)
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
		if s := p.Stats(); s.Puts-s.DroppedDouble != 2 || s.DroppedDouble != 3 || s.DroppedForeign != 0 {
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
	want := dewpond.Stats{DroppedClosed: 3}
	if offHeap { // what a closed pool gives is the Go heap's
		want = dewpond.Stats{DroppedClosed: 2, DroppedFallback: 1}
	}
	expect(t, p, want)
	if dewpond.Release(a) != dewpond.ErrReleased {
		t.Error("a second Release passes")
	}
}
