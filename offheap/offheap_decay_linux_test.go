package offheap_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/offheap"
)

// A quarter of a gigabyte that was put back is given back to the system within three
// timeouts, with no garbage collection in between, and its addresses are used again.
func TestResidentMemoryFallsWithAge(t *testing.T) {
	if shadowed {
		t.Skip("the sanitizer's shadow of the blocks stays resident")
	}
	const mib = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		p, err := offheap.Options{Reserve: 512 * mib}.NewBytePool(dewpond.BytePoolOptions{
			Name: "aged", IdleTimeout: 5 * time.Second, MaxIdleBytes: 512 * mib,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if p.Put(p.Get(1)); p.Stats().OffHeap.Reserved == 0 {
			t.Skip("blocks are not mapped here")
		}
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		use := func() {
			out := make([][]byte, 256*mib/8192)
			for i := range out {
				out[i] = p.Get(8192)
				out[i][0], out[i][4096] = 1, 1
			}
			for _, b := range out {
				p.Put(b)
			}
		}
		debug.FreeOSMemory() // so that memory of other tests is not released during the measurement
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := resident(t)
		use()
		full := resident(t)
		time.Sleep(15 * time.Second) // of the bubble's clock
		synctest.Wait()
		end := resident(t)
		runtime.ReadMemStats(&after)
		t.Logf("resident at the start %d MiB, full %d MiB, 15 s later %d MiB", start/mib, full/mib, end/mib)
		if full < start+200*mib {
			t.Errorf("the blocks were never resident: %d bytes, then %d", start, full)
		}
		if end > start+16*mib {
			t.Errorf("%d bytes are resident, %d before the blocks were used", end, start)
		}
		if after.NumGC != before.NumGC {
			t.Errorf("there were %d collections: this shows nothing", after.NumGC-before.NumGC)
		}
		reserved := p.Stats().OffHeap.Reserved
		use()
		if s := p.Stats(); s.OffHeap.Reserved != reserved || s.OffHeap.Committed > 300*mib || s.OffHeap.Fallback != 0 {
			t.Errorf("used again: %d of %d bytes committed, %d fell back", s.OffHeap.Committed, s.OffHeap.Reserved, s.OffHeap.Fallback)
		}
	})
}

// resident returns the process's resident bytes.
func resident(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	t.Fatal("no VmRSS in /proc/self/status")
	return 0
}
