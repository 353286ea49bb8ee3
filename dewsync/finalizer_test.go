package dewsync_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/dewsync"
)

// The finalizer of an object runs after the pool has let go of it, and not before. It may
// put the object back.
func TestFinalizers(t *testing.T) {
	for _, mode := range []string{"off", "sampled=1/1", "all"} {
		onBoth(t, func(t *testing.T) {
			found := check(t, mode)
			var p dewsync.Pool
			var finalized atomic.Int64
			const n = 10
			for range n {
				v := new(padded)
				runtime.SetFinalizer(v, func(v *padded) { finalized.Add(1); p.Put(v) })
				p.Put(v)
			}
			for range 3 {
				runtime.GC()
			}
			if finalized.Load() != 0 || idle(&p) != n {
				t.Errorf("%s: of %d objects, %d of them idle, %d are finalized", mode, n, idle(&p), finalized.Load())
			}
			for trim(&p); finalized.Load() < n; { // if they are not, the test runs into its timeout
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			for idle(&p) < n {
				time.Sleep(time.Millisecond)
			}
			for range n {
				if v, ok := p.Get().(*padded); ok { // with checks they are in quarantine first
					v.WriteString("the same object, again")
				}
			}
			if len(*found) != 0 {
				t.Errorf("%s: reported %v", mode, *found)
			}
		})
	}
}
