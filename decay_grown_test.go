package dewpond_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// Objects that have grown in a burst are released within two timeouts although the pool is in use: its processors keep
// what its traffic needs. Their shards had room for all of them.
func TestGrownObjectsGoWhileThePoolIsInUse(t *testing.T) {
	notWatched(t, "objects that wait in quarantine")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
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

// So it is with blocks that lie in shards.
func TestBlocksGoWhileThePoolIsInUse(t *testing.T) {
	notWatched(t, "the quarantine has all blocks used in turn")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
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
