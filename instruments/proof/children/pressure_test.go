package children

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

// A process whose heap nears GOMEMLIMIT while a pool is full: the pool gives way, and it does not
// where the heap is as large but has no limit. What the collector takes of the processor is
// logged.
func TestPoolGivesWayToTheHeap(t *testing.T) {
	if how, ok := role(); ok {
		growBesideAFullPool(how == "near")
		os.Exit(0)
	}
	for how, want := range map[string][]string{
		"near": {"idle 0 MiB"},
		"none": {"idle 64 MiB", "idle 63 MiB"}, // empty places in the shards keep up to a magazine or two from what may be idle
	} {
		limit := map[string]string{"near": "128MiB", "none": "off"}[how]
		collect := map[string]string{"near": "off", "none": "10"}[how]
		// The system may be short of memory too, for a while. If the pool goes on as it should not,
		// the test runs into its timeout.
		for told := ""; !slices.Contains(want, told); {
			out, err := child(t, how, "GOMEMLIMIT="+limit, "GOGC="+collect).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("limit %s: %s", limit, out)
			told, _, _ = strings.Cut(string(out), ",")
		}
	}
}

func growBesideAFullPool(pressed bool) {
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "idle", IdleTimeout: time.Hour})
	give(p, take(p, 64<<10, 1024)...)
	live := make([][]byte, 52)
	for i := range live {
		live[i] = make([]byte, 1<<20)
	}
	var garbage []byte
	// 800 MB, which is more than a hundred collections without pressure; and with pressure until
	// the pool is empty, else its test runs into its timeout.
	for n := 0; n < 2000 || pressed && p.Stats().IdleBytes > 0; n++ {
		for range 100 {
			garbage = make([]byte, 4096)
			garbage[0] = 1
		}
		runtime.Gosched()
	}
	cpu := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(cpu)
	gc, all := cpu[0].Value.Float64(), cpu[1].Value.Float64()-cpu[2].Value.Float64()
	var gcs debug.GCStats
	debug.ReadGCStats(&gcs)
	fmt.Printf("idle %d MiB, %d collections, collector %.1f %% of the processor time used\n", p.Stats().IdleBytes>>20, gcs.NumGC, 100*gc/all)
	runtime.KeepAlive(live)
	runtime.KeepAlive(garbage)
}
