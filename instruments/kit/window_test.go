package kit

import (
	"runtime"
	"testing"
	"time"
)

var sink []byte

// TestAccount forces a known count of each thing.
func TestAccount(t *testing.T) {
	const times, size = 10_000, 1024
	began := time.Now()
	w := Open()
	// The collector may have to wait for a processor: run until it has run twice.
	n, before := uint64(0), Collections()
	for ; n < times || n%1000 != 0 || Collections() < before+2; n++ {
		sink = make([]byte, size)
	}
	runtime.GC() // forced: not the contender's
	time.Sleep(10 * time.Millisecond)
	a := w.Close()
	if a.Allocs < n || a.Allocs > n+n/10 {
		t.Errorf("%d allocations, want %d", a.Allocs, n)
	}
	if a.AllocBytes < n*size || a.AllocBytes > n*size+1<<20 {
		t.Errorf("%d bytes, want %d", a.AllocBytes, n*size)
	}
	if most := time.Since(began).Seconds(); a.Seconds < 0.01 || a.Seconds > most {
		t.Errorf("%v s of %v", a.Seconds, most)
	}
	// There were at least two, and a goal is at least 4 MB.
	if a.GCCycles < 2 || a.GCCycles > 2+n*size>>19 {
		t.Errorf("%d collections", a.GCCycles)
	}
	if a.GCCPUShare < 0 || a.GCCPUShare > 1 {
		t.Errorf("GC took %v of the CPU", a.GCCPUShare)
	}
}

// TestAccountOfNothing looks at windows in which this goroutine does nothing. The runtime or
// what an earlier test has left may do something in one of them, but not in all.
func TestAccountOfNothing(t *testing.T) {
	var a Account
	for range 100 {
		a = Open().Close()
		if a.GCCycles == 0 && a.GCCPUShare == 0 && a.Allocs <= 1000 {
			return
		}
	}
	t.Errorf("nothing happened in 100 windows, but the account of the last is %+v", a)
}

func TestEnvironment(t *testing.T) {
	e := Environment()
	if e.GoVersion != runtime.Version() || e.GOMAXPROCS != runtime.GOMAXPROCS(0) || e.Machine == "" || e.GOGC == "" || e.GOMEMLIMIT == "" {
		t.Errorf("environment is %+v", e)
	}
	if _, err := time.Parse(time.RFC3339, e.Time); err != nil {
		t.Error(err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if e.LoadAverage[0] < 0 || PeakRSS() < 1<<20 || RSS() < 1<<20 {
		t.Errorf("load %v, peak RSS %d, RSS %d", e.LoadAverage, PeakRSS(), RSS())
	}
}
