package load

// This file and that of the loads become tests of a program. Its names begin with dewpond, for they
// stand beside those of the program.

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A dewpondLoad does so many operations. Where they are due by the clock it returns how long each took
// from when it was due.
type dewpondLoad func(t *testing.T, ops int) []time.Duration

// dewpondBegin is for a load that has made what it needs: what it did until then counts for its memory alone.
var dewpondBegin func()

// TestDewpondLoad runs the load that the environment names, and prints its figures.
func TestDewpondLoad(t *testing.T) {
	load := dewpondLoads[os.Getenv("DEWPOND_LOAD")]
	if load == nil {
		t.Skip("the environment asks for no load")
	}
	ops, err := strconv.Atoi(os.Getenv("DEWPOND_LOAD_OPS"))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	var used time.Duration
	var began time.Time
	dewpondBegin = func() {
		runtime.ReadMemStats(&before)
		used, began = dewpondCPU(), time.Now()
	}
	dewpondBegin()
	took := load(t, ops)
	seconds, cpu := time.Since(began).Seconds(), dewpondCPU()-used
	runtime.ReadMemStats(&after)
	each := func(n uint64) float64 { return float64(n) / float64(ops) }
	figures := map[string]float64{
		"cpu_time_ns":        float64(cpu) / float64(ops),
		"allocs_per_op":      each(after.Mallocs - before.Mallocs),
		"alloc_bytes_per_op": each(after.TotalAlloc - before.TotalAlloc),
		"collections":        float64(after.NumGC - after.NumForcedGC - before.NumGC + before.NumForcedGC),
		"rss_peak_bytes":     dewpondPeak(t),
	}
	if len(took) > 0 {
		slices.Sort(took)
		figures["response_p99_ns"] = float64(took[(len(took)-1)*99/100])
	}
	line, err := json.Marshal(map[string]any{"ops": ops, "seconds": seconds, "figures": figures})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\nDEWPOND_LOAD %s\n", line)
}

func dewpondCPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// dewpondPeak is VmHWM: ru_maxrss may be that of the process that has started this one.
func dewpondPeak(t *testing.T) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), "\nVmHWM:")
	kilobytes, err := strconv.ParseFloat(strings.Fields(text)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes * 1024
}

// dewpondBenchmark is a benchmark of the program as a load. go test's -benchtime has its operations.
func dewpondBenchmark(benchmark func(*testing.B)) dewpondLoad {
	return func(t *testing.T, ops int) []time.Duration {
		if r := testing.Benchmark(benchmark); r.N != ops {
			t.Fatalf("the benchmark did %d operations and not %d", r.N, ops)
		}
		return nil
	}
}

// A dewpondOpen is operations that are due by the clock, whatever the earlier ones do.
type dewpondOpen struct {
	mu   sync.Mutex
	took []time.Duration
}

// run begins one operation each interval. begin is told when it was due. One that is still not done
// when none has been for two seconds is lost: it has taken that long at least.
func (o *dewpondOpen) run(ops int, interval time.Duration, begin func(i int, due time.Time)) []time.Duration {
	o.took = make([]time.Duration, 0, ops)
	start := time.Now()
	for i := range ops {
		due := start.Add(time.Duration(i) * interval)
		time.Sleep(time.Until(due))
		begin(i, due)
	}
	patience := 2 * time.Second
	for seen, since := 0, time.Now(); ; time.Sleep(time.Millisecond) {
		o.mu.Lock()
		done := len(o.took)
		o.mu.Unlock()
		if done > seen {
			seen, since = done, time.Now()
		}
		if done == ops || time.Since(since) > patience {
			break
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Clone(o.took)
	for range ops - len(all) {
		all = append(all, patience)
	}
	return all
}

// done is called once for each operation.
func (o *dewpondOpen) done(due time.Time) {
	took := time.Since(due)
	o.mu.Lock()
	o.took = append(o.took, took)
	o.mu.Unlock()
}
