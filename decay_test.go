package dewpond_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/pressure"
)

// What is not needed stays for the timeout, goes little by little, and is gone after
// two (and an eighth, for what lay in a shard); then no timer is left.
func TestDecay(t *testing.T) {
	for _, size := range []int{100, 8192, 200_000} {
		synctest.Test(t, func(t *testing.T) {
			const timeout = 32 * time.Second
			p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
			if dewpond.Armed(p) {
				t.Error("an empty pool has a timer")
			}
			hold(p, size, 200)
			full := p.Stats().IdleBytes
			if !dewpond.Armed(p) || full == 0 {
				t.Errorf("a pool with %d idle bytes has a timer: %v", full, dewpond.Armed(p))
			}
			time.Sleep(timeout)
			if s := p.Stats(); s.IdleBytes != full {
				t.Errorf("size %d: after one timeout %d of %d bytes are left", size, s.IdleBytes, full)
			}
			var seen []int64
			for range 24 {
				time.Sleep(timeout / 16)
				seen = append(seen, p.Stats().IdleBytes)
			}
			steps := 0
			for i := range seen[1:] {
				if seen[i+1] < seen[i] {
					steps++
				}
				if seen[i+1] > seen[i] || seen[i]-seen[i+1] > full/4 {
					t.Errorf("size %d: from %d to %d of %d bytes", size, seen[i], seen[i+1], full)
				}
			}
			s := p.Stats()
			if s.IdleBytes != 0 || s.ReleasedBytes != full || steps < 8 {
				t.Errorf("size %d: %d of %d bytes are left, %d released in %d steps", size, s.IdleBytes, full, s.ReleasedBytes, steps)
			}
			time.Sleep(timeout)
			if dewpond.Armed(p) {
				t.Error("an empty pool has a timer")
			}
			hold(p, size, 1)
			if !dewpond.Armed(p) {
				t.Error("a pool that was empty for a while decays no more")
			}
		})
	}
}

// What is needed again before the timeout is over stays, and costs no miss.
func TestDecayKeepsWhatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
		hold(p, 200_000, 100)
		for range 30 {
			time.Sleep(timeout * 9 / 10)
			hold(p, 200_000, 60)
		}
		if s := p.Stats(); s.Misses != 100 || blocks(s) != 60 {
			t.Errorf("%d misses, %d blocks idle; want 100 and 60", s.Misses, blocks(s))
		}
	})
}

// With one user left, what others left behind goes, wherever it lies.
func TestDecayReachesIdleShards(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	synctest.Test(t, func(t *testing.T) {
		const timeout = 32 * time.Second
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
		var wg, held go125.WaitGroup
		held.Add(64)
		for range 64 {
			wg.Go(func() {
				var mine [][]byte
				for range 30 {
					mine = append(mine, p.Get(1000))
				}
				held.Done()
				held.Wait() // so that none is used twice
				for _, b := range mine {
					p.Put(b)
				}
			})
		}
		wg.Wait()
		before := blocks(p.Stats())
		if before != 64*30 {
			t.Errorf("%d blocks are idle, want %d", before, 64*30)
		}
		for range 3 * 32 {
			time.Sleep(timeout / 32)
			hold(p, 1000, 3)
		}
		// A user has two magazines at most of 64 blocks in a shard. This one may have
		// gone from P to P of late, so allow for four.
		after := blocks(p.Stats())
		if after > 4*2*64 {
			t.Errorf("%d blocks are idle of %d, for a use of 3", after, before)
		}
		t.Logf("%d blocks idle, then %d", before, after)
	})
}

func TestDecayNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay})
		hold(p, 100, 10)
		time.Sleep(1000 * time.Hour)
		if s := p.Stats(); blocks(s) != 10 || dewpond.Armed(p) {
			t.Errorf("%d of 10 blocks are left, a timer is armed: %v", blocks(s), dewpond.Armed(p))
		}
	})
}

func TestIdleTimeoutsThatCannotBeMeant(t *testing.T) {
	_, err := makePool(dewpond.BytePoolOptions{IdleTimeout: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "IdleTimeout 1ms") {
		t.Errorf("%v", err)
	}
}

// Objects go to Drop as they decay, each once.
func TestPoolDecays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		dropped := map[*account]int{}
		p := newObjects(t, dewpond.PoolOptions[account]{
			IdleTimeout: 10 * time.Second,
			Drop: func(v *account) {
				mu.Lock()
				defer mu.Unlock()
				dropped[v]++
			},
		})
		var out []*account
		for range 200 {
			out = append(out, p.Get())
		}
		for _, v := range out {
			p.Put(v)
		}
		time.Sleep(10 * time.Second)
		mu.Lock()
		if len(dropped) != 0 {
			t.Errorf("%d objects went before their time", len(dropped))
		}
		mu.Unlock()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		for _, v := range out {
			if dropped[v] != 1 {
				t.Fatalf("an object was dropped %d times", dropped[v])
			}
		}
		if s := p.Stats(); s.Trimmed != 200 || s.IdleBytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A bubble on a slow machine lives longer than its pools' timeouts: its timers count
// still.
func TestDecayInSlowBubble(t *testing.T) {
	ask := make(chan struct{})
	defer close(ask)
	go func() { // outside, by the real clock
		for range ask {
			for _, pause := range []time.Duration{250 * time.Millisecond, 20 * time.Millisecond} {
				runtime.GC()
				time.Sleep(pause)
			}
			ask <- struct{}{}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 100 * time.Millisecond})
		hold(p, 200_000, 3)
		ask <- struct{}{}
		<-ask
		time.Sleep(time.Second)
		synctest.Wait()
		if s := p.Stats(); s.IdleBytes != 0 {
			t.Errorf("%d bytes are idle after ten timeouts", s.IdleBytes)
		}
	})
}

// A pool that is in use outside works in a bubble, where time runs otherwise, and
// decays by the clock outside.
func TestDecayIgnoresBubbles(t *testing.T) {
	notWatched(t, countsMiss)
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: time.Hour})
	hold(p, 200_000, 3)
	synctest.Test(t, func(t *testing.T) {
		hold(p, 200_000, 4)
		time.Sleep(100 * time.Hour)
		hold(p, 200_000, 4)
	})
	hold(p, 200_000, 4)
	if s := p.Stats(); blocks(s) != 4 || s.Misses != 4 {
		t.Errorf("%d blocks, %d misses; want 4 and 4", blocks(s), s.Misses)
	}
}

// High pressure empties also a pool whose timer died with a bubble.
func TestHighPressureOutlivesBubble(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 24 * time.Hour})
	synctest.Test(t, func(t *testing.T) { hold(p, 1000, 100) })
	if p.Stats().IdleBytes == 0 {
		t.Error("nothing was idle: this shows nothing")
	}
	dewpond.SetLevel(pressure.High)
	for p.Stats().IdleBytes > 0 { // else the test runs into its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// OldestIdle is the age of the oldest idle block, as well as decay sees it, from the largest
// classes to those of which a processor has some for itself, and of objects.
func TestOldestIdle(t *testing.T) {
	const timeout = 32 * time.Second
	const lag = timeout / 4
	about := func(t *testing.T, got, want time.Duration) {
		t.Helper()
		if got > want || got < want-lag {
			t.Errorf("OldestIdle is %v for blocks that are idle for %v", got, want)
		}
	}
	for _, size := range []int{100, 8192, 200_000} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
			if got := p.Stats().OldestIdle; got != 0 {
				t.Errorf("OldestIdle of an empty pool is %v", got)
			}
			hold(p, size, 200)
			for seconds := range 4 {
				about(t, p.Stats().OldestIdle, time.Duration(seconds)*8*time.Second)
				time.Sleep(8 * time.Second)
			}
			// What is used meanwhile is the youngest.
			for range 8 {
				hold(p, size, 2)
				time.Sleep(time.Second)
			}
			about(t, p.Stats().OldestIdle, timeout) // it is never more
			hold(p, size, 200)                      // the pool has no block that was not used now
			about(t, p.Stats().OldestIdle, 0)
			time.Sleep(timeout / 2)
			about(t, p.Stats().OldestIdle, timeout/2)
			p.Trim()
			if got := p.Stats().OldestIdle; got != 0 {
				t.Errorf("OldestIdle is %v after Trim", got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := dewpond.MustPool(dewpond.PoolOptions[int]{Name: t.Name(), IdleTimeout: timeout})
		defer p.Close()
		var out []*int
		for range 1000 {
			out = append(out, p.Get())
		}
		for _, v := range out {
			p.Put(v)
		}
		time.Sleep(timeout / 2)
		about(t, p.Stats().OldestIdle, timeout/2)

		never := newPool(t, dewpond.BytePoolOptions{Name: t.Name() + " never", IdleTimeout: dewpond.NoDecay})
		hold(never, 100, 200)
		time.Sleep(timeout)
		if got := never.Stats().OldestIdle; got != 0 {
			t.Errorf("OldestIdle is %v without decay", got)
		}
	})
}

// A pool that was used in a bubble, whose clock is another, begins anew outside.
func TestOldestIdleAcrossClocks(t *testing.T) {
	const timeout = 10 * time.Minute
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1 << 20}, IdleTimeout: timeout, MaxIdleBytes: 1 << 30})
	synctest.Test(t, func(t *testing.T) {
		var blocks [][]byte
		for range 40 {
			blocks = append(blocks, p.Get(1<<20))
		}
		for _, b := range blocks {
			p.Put(b)
		}
		time.Sleep(3 * time.Minute)
	})
	p.Put(p.Get(1 << 20))
	if age := p.Stats().OldestIdle; age == timeout {
		t.Errorf("OldestIdle is %v of a pool that has just been made", age)
	}
}

// procsOfOneShard returns for how many processors the Get and the Put of a goroutine use the same shard. In the portable
// engine they can use two. What the one takes from the depot then lies with the other, and all of it seems to be needed.
func procsOfOneShard() int {
	if percpu.Pinned {
		return 2
	}
	return 1
}

// Objects that have grown in a burst are released within two timeouts although the pool is in use: its processors keep
// what its traffic needs. Their shards had room for all of them.
func TestGrownObjectsGoWhileThePoolIsInUse(t *testing.T) {
	notWatched(t, "objects that wait in quarantine")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procsOfOneShard()))
	const timeout, grown = time.Minute, 100
	for _, traffic := range []int{1, 5} {
		synctest.Test(t, func(t *testing.T) {
			p := newObjects(t, dewpond.PoolOptions[bytes.Buffer]{IdleTimeout: timeout, Reset: func(b *bytes.Buffer) { b.Reset() }})
			idle := func() int { return int(p.Stats().IdleBytes / int64(unsafe.Sizeof(bytes.Buffer{}))) }
			use := func(n int, size int) {
				var out []*bytes.Buffer
				for range n {
					b := p.Get()
					b.Write(make([]byte, size))
					out = append(out, b)
				}
				for _, b := range out {
					p.Put(b)
				}
			}
			use(grown, 1000)
			began := time.Now()
			for time.Since(began) < timeout {
				use(traffic, 10)
				time.Sleep(50 * time.Millisecond)
			}
			if n := idle(); n < grown {
				t.Errorf("traffic of %d: %d of %d are idle before a timeout is over", traffic, n, grown)
			}
			for time.Since(began) < 2*timeout {
				use(traffic, 10)
				time.Sleep(50 * time.Millisecond)
			}
			if n := idle(); n > 10*traffic {
				t.Errorf("traffic of %d: %d of %d are idle after two timeouts", traffic, n, grown)
			} else {
				t.Logf("traffic of %d: %d of %d", traffic, n, grown)
			}
		})
	}
}

// Where one goroutine gets what another puts, as in a pipeline, all that fits two magazines of each processor can be
// needed in turn, though one object is out at a time. What is beyond goes.
func TestPipelineKeepsTwoMagazines(t *testing.T) {
	notWatched(t, "objects that wait in quarantine")
	if !percpu.Pinned {
		t.Skip("there a processor has several shards")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const timeout, grown, magazine = time.Minute, 1000, 64
	synctest.Test(t, func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[bytes.Buffer]{IdleTimeout: timeout, Reset: func(b *bytes.Buffer) { b.Reset() }})
		idle := func() int { return int(p.Stats().IdleBytes / int64(unsafe.Sizeof(bytes.Buffer{}))) }
		var out []*bytes.Buffer
		for range grown {
			out = append(out, p.Get())
		}
		for _, b := range out {
			p.Put(b)
		}
		var stop atomic.Bool
		var handed atomic.Pointer[bytes.Buffer] // the two spin, or one processor would have both
		go func() {
			for !stop.Load() {
				if b := handed.Swap(nil); b != nil {
					p.Put(b)
					time.Sleep(200 * time.Millisecond)
				}
			}
		}()
		for began := time.Now(); time.Since(began) < 3*timeout; time.Sleep(200 * time.Millisecond) {
			for b := p.Get(); !handed.CompareAndSwap(nil, b); {
			}
			for handed.Load() != nil {
			}
		}
		if n := idle(); n > 2*2*magazine {
			t.Errorf("%d of %d are idle after three timeouts", n, grown)
		} else {
			t.Logf("%d of %d", n, grown)
		}
		stop.Store(true)
		synctest.Wait()
	})
}

// So it is with blocks that lie in shards.
func TestBlocksGoWhileThePoolIsInUse(t *testing.T) {
	notWatched(t, "the quarantine has all blocks used in turn")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procsOfOneShard()))
	const timeout, burst = time.Minute, 60
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
		hold(p, 1000, burst)
		for began := time.Now(); time.Since(began) < 2*timeout; time.Sleep(50 * time.Millisecond) {
			hold(p, 1000, 1)
		}
		if n := blocks(p.Stats()); n > 10 {
			t.Errorf("%d of %d blocks are idle after two timeouts, for a use of one", n, burst)
		}
	})
}

// A block or object that its owner loses is collected by the third collection after, though
// the pool is not used any more and never decays.
func TestLostBlocksAreCollected(t *testing.T) {
	notWatched(t, "it loses blocks and objects")
	const count = 100
	for _, timeout := range []time.Duration{-1, 0} {
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
		q := dewpond.MustPool(dewpond.PoolOptions[[1 << 10]byte]{IdleTimeout: timeout})
		var blocks []weak.Pointer[byte]
		var objects []weak.Pointer[[1 << 10]byte]
		lose := func() {
			var out [][]byte
			var made []*[1 << 10]byte
			for range 2 { // those of the second time come from the pool
				for range count {
					out, made = append(out, p.Get(1000)), append(made, q.Get())
				}
				for i := range out {
					p.Put(out[i])
					q.Put(made[i])
				}
				out, made = out[:0], made[:0]
			}
			for range count {
				if b := p.Get(1000); !offHeap { // there the collector has none
					blocks = append(blocks, weak.Make(&b[0]))
				}
				objects = append(objects, weak.Make(q.Get()))
			}
		}
		lose()
		for range 2 {
			runtime.GC()
			dewpond.AfterCollection() // which comes on its own, some time after
		}
		runtime.GC()
		alive := [2]int{}
		for _, b := range blocks {
			if b.Value() != nil {
				alive[0]++
			}
		}
		for _, v := range objects {
			if v.Value() != nil {
				alive[1]++
			}
		}
		if alive != [2]int{} {
			t.Errorf("IdleTimeout %v: of %d lost blocks and as many objects %v are alive", timeout, count, alive)
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(q)
	}
}

// What the last test calls is called after every collection.
func TestCollectionsAreHeardOf(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay})
	for range 3 {
		for before := dewpond.Collections(); dewpond.Collections() == before; { // else the test runs into its timeout
			runtime.GC()
			runtime.Gosched()
		}
	}
	runtime.KeepAlive(p)
}

// Magazines that are not needed go with what was in them. Of a limited pool each idle object
// costs little more than itself.
func TestEmptyMagazinesDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, timeout = 20_000, time.Second
		p := dewpond.MustPool(dewpond.PoolOptions[int64]{MaxOut: count, MaxIdle: count, IdleTimeout: timeout})
		defer p.Close()
		before := p.Stats().OverheadBytes
		out := make([]*int64, count)
		for i := range out {
			out[i] = p.Get()
		}
		for _, v := range out {
			p.Put(v)
		}
		s := p.Stats()
		if per := (s.OverheadBytes - before) / count; s.IdleBytes != 8*count || per > 48 {
			t.Errorf("%d bytes are idle, and each object costs %d more", s.IdleBytes, per)
		}
		time.Sleep(3 * timeout)
		s = p.Stats()
		const table = 2 * 8 * count // an address for each magazine there was
		if s.IdleBytes != 0 || s.OverheadBytes-before > table {
			t.Errorf("%d bytes are idle and %d overhead after decay, %d before", s.IdleBytes, s.OverheadBytes, before)
		}
	})
}

// High pressure finds them too.
func TestEmptyMagazinesUnderPressure(t *testing.T) {
	leavesOut(t, "blocks that keep the pool from being empty")
	defer dewpond.SetLevel(pressure.Low)
	synctest.Test(t, func(t *testing.T) {
		const count = 100
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{256 << 10}, MaxIdleBytes: 1 << 30, IdleTimeout: time.Hour})
		p.Put(p.Get(256 << 10)) // the first use takes more
		before := p.Stats().OverheadBytes
		hold(p, 256<<10, count)
		out := make([][]byte, count-1) // one stays idle, or the timer would take all
		for i := range out {
			out[i] = p.Get(256 << 10)
		}
		dewpond.SetLevel(pressure.High)
		time.Sleep(time.Hour)
		if s := p.Stats(); s.OverheadBytes-before > 2*8*count {
			t.Errorf("%d bytes of overhead after pressure, %d before", s.OverheadBytes, before)
		}
		runtime.KeepAlive(out)
	})
}
