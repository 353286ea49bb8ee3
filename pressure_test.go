package dewpond_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
)

func TestLevelNames(t *testing.T) {
	got := fmt.Sprint(dewpond.PressureLow, dewpond.PressureMedium, dewpond.PressureHigh)
	if got != "low medium high" {
		t.Errorf("%s", got)
	}
}

// High pressure empties a pool at its next tick, medium four times as fast as low.
func TestDecayUnderPressure(t *testing.T) {
	defer dewpond.SetLevel(dewpond.PressureLow)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection gives a tick too
	for _, tt := range []struct {
		level dewpond.Level
		kept  time.Duration // all, for so long
		gone  time.Duration
	}{
		{dewpond.PressureLow, 64 * time.Second, 150 * time.Second},
		{dewpond.PressureMedium, 16 * time.Second, 52 * time.Second},
		{dewpond.PressureHigh, time.Second, 3 * time.Second},
	} {
		for _, size := range []int{1000, 100_000} {
			synctest.Test(t, func(t *testing.T) {
				dewpond.SetLevel(tt.level)
				p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 64 * time.Second})
				hold(p, size, 100)
				time.Sleep(tt.kept)
				if got := blocks(p.Stats()); got != 100 {
					t.Errorf("%v, size %d: %d of 100 blocks are left after %v", tt.level, size, got, tt.kept)
				}
				time.Sleep(tt.gone - tt.kept)
				synctest.Wait()
				if s := p.Stats(); blocks(s) != 0 || s.Trimmed != 100 {
					t.Errorf("%v, size %d: %d blocks are left after %v, %d trimmed", tt.level, size, blocks(s), tt.gone, s.Trimmed)
				} else if s.CommittedBytes != 0 { // off the heap
					t.Errorf("%v, size %d: %d bytes are committed after %v", tt.level, size, s.CommittedBytes, tt.gone)
				}
			})
		}
	}
}

func TestOnPressure(t *testing.T) {
	defer dewpond.SetLevel(dewpond.PressureLow)
	synctest.Test(t, func(t *testing.T) {
		dewpond.SetLevel(dewpond.PressureLow)
		var mu sync.Mutex
		var seen []dewpond.Level
		stop := dewpond.OnPressure(func(l dewpond.Level) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, l)
		})
		for _, level := range []dewpond.Level{dewpond.PressureLow, dewpond.PressureHigh, dewpond.PressureHigh, dewpond.PressureMedium} {
			dewpond.SetLevel(level)
			if dewpond.Pressure() != level {
				t.Errorf("Pressure() = %v, want %v", dewpond.Pressure(), level)
			}
			time.Sleep(2300 * time.Millisecond) // not at a moment at which it looks
		}
		stop()
		stop()
		dewpond.SetLevel(dewpond.PressureLow)
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if want := []dewpond.Level{dewpond.PressureHigh, dewpond.PressureMedium}; !slices.Equal(seen, want) {
			t.Errorf("called with %v, want %v", seen, want)
		}
	})
}

// Whatever Pressure has shown between two looks is heard, in order: also a level that was
// there for a moment.
func TestOnPressureHearsEachLevel(t *testing.T) {
	defer dewpond.SetLevel(dewpond.PressureLow)
	synctest.Test(t, func(t *testing.T) {
		dewpond.SetLevel(dewpond.PressureMedium)
		var seen []dewpond.Level
		stop := dewpond.OnPressure(func(l dewpond.Level) { seen = append(seen, l) })
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		want := []dewpond.Level{dewpond.PressureMedium}
		for range 30 {
			for _, level := range []dewpond.Level{dewpond.PressureHigh, dewpond.PressureMedium, dewpond.PressureLow, dewpond.PressureMedium} {
				dewpond.SetLevel(level)
				want = append(want, dewpond.Pressure())
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		stop()
		synctest.Wait()
		if !slices.Equal(seen, want) {
			t.Errorf("called with %v, want %v", seen, want)
		}
	})
}

// Of what it could not hear while it was busy it hears the last.
func TestOnPressureIsBusy(t *testing.T) {
	defer dewpond.SetLevel(dewpond.PressureLow)
	synctest.Test(t, func(t *testing.T) {
		dewpond.SetLevel(dewpond.PressureMedium)
		var seen []dewpond.Level
		stop := dewpond.OnPressure(func(l dewpond.Level) {
			if seen = append(seen, l); len(seen) == 1 {
				time.Sleep(time.Hour)
			}
		})
		time.Sleep(time.Second)
		for range 1000 {
			dewpond.SetLevel(dewpond.PressureHigh)
			dewpond.SetLevel(dewpond.PressureMedium)
		}
		time.Sleep(time.Hour)
		stop()
		synctest.Wait()
		if n := len(seen); n < 50 || n > 100 || seen[1] != dewpond.PressureHigh || seen[n-1] != dewpond.PressureMedium {
			t.Errorf("called %d times: %v", n, seen)
		}
	})
}

func TestOnPressureOfNothing(t *testing.T) {
	if text := panics(func() { dewpond.OnPressure(nil) }); !strings.Contains(text, "OnPressure(nil)") {
		t.Errorf("panics with %q", text)
	}
}

// A function that is stopped at once is not called later.
func TestOnPressureStopsAtOnce(t *testing.T) {
	defer dewpond.SetLevel(dewpond.PressureLow)
	synctest.Test(t, func(t *testing.T) {
		dewpond.SetLevel(dewpond.PressureLow) // of which nothing is heard, should it look before the stop
		dewpond.OnPressure(func(dewpond.Level) { t.Error("called after stop") })()
		dewpond.SetLevel(dewpond.PressureHigh)
		time.Sleep(time.Minute)
	})
}

// The first look and a stop meet: the race detector must be content.
func TestOnPressureStopsDuringALook(t *testing.T) {
	for range 300 {
		stop := dewpond.OnPressure(func(dewpond.Level) {})
		runtime.Gosched()
		stop()
	}
}

// A process whose heap nears GOMEMLIMIT while a pool is full: with pressure the pool
// gives way, and the collector has less to do. Both shares are logged; what is
// checked is that the pool gave way with pressure and did not without.
func TestPoolGivesWayToTheHeap(t *testing.T) {
	needsProcesses(t)
	onlyOnHeap(t, "GOMEMLIMIT does not see blocks off it")
	if testing.Short() {
		t.Skip("two processes of some seconds; the run without -short does")
	}
	const key = "DEWPOND_TEST_PRESSURE"
	if how := os.Getenv(key); how != "" {
		growBesideAFullPool(how == "on")
		os.Exit(0)
	}
	t.Parallel() // it only waits
	said := map[string]string{}
	var both sync.WaitGroup
	var mu sync.Mutex
	for _, how := range []string{"on", "off"} {
		both.Go(func() {
			child := exec.Command(os.Args[0], "-test.run=^TestPoolGivesWayToTheHeap$", "-dewpond.memory=heap", childTimeout(t))
			child.Env = append(os.Environ(), key+"="+how, "GOMEMLIMIT=128MiB", "GOGC=off")
			out, err := child.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			said[how] = strings.TrimSpace(string(out))
			t.Logf("pressure %s: %s", how, said[how])
		})
	}
	both.Wait()
	// Empty places in the shards keep up to a magazine or two from what may be idle.
	if !strings.Contains(said["on"], "idle 0 MiB") || !strings.Contains(said["off"], "idle 64 MiB") && !strings.Contains(said["off"], "idle 63 MiB") {
		t.Errorf("with pressure: %s; without: %s", said["on"], said["off"])
	}
}

func growBesideAFullPool(pressed bool) {
	if pressed {
		dewpond.RealLevel()
	}
	p, err := makePool(dewpond.BytePoolOptions{Name: "idle", IdleTimeout: time.Hour})
	if err != nil {
		panic(err)
	}
	hold(p, 64<<10, 1024)
	var live [][]byte
	for range 52 {
		live = append(live, make([]byte, 1<<20))
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
