package magazine

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond/internal/percpu"
)

// An owned block knows whether anybody owns it.
type owned struct {
	out atomic.Bool
	_   [56]byte
}

// reclaimStress has 64 goroutines pop and push while Trim and Gather replace the
// array and GOMAXPROCS changes, and returns how often a block had two owners.
func reclaimStress(length time.Duration) (violations, drains int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var e Engine
	e.Init(Config{Sizes: []int{64, 1024}, MaxIdleBytes: 1 << 20})
	var stop atomic.Bool
	var doubled atomic.Int64
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			class := uint8(g % 2)
			for !stop.Load() {
				var held [4]*owned
				for i := range held {
					b := (*owned)(e.Pop(class))
					if b == nil {
						b = new(owned)
					}
					if !b.out.CompareAndSwap(false, true) {
						doubled.Add(1)
						b = new(owned)
						b.out.Store(true)
					}
					held[i] = b
				}
				for _, b := range held {
					b.out.Store(false)
					e.Push(class, unsafe.Pointer(b))
				}
			}
		})
	}
	for end := time.Now().Add(length); time.Now().Before(end) && doubled.Load() < 1000; drains++ {
		switch drains % 8 {
		case 0:
			runtime.GOMAXPROCS(1 + int(drains/8%8))
		case 1:
			e.Gather()
		case 2:
			e.Scatter()
		default:
			e.Trim(func(uint8, unsafe.Pointer) {})
		}
	}
	stop.Store(true)
	wg.Wait()
	return doubled.Load(), drains
}

func TestReclaimGivesNoBlockTwoOwners(t *testing.T) {
	violations, drains := reclaimStress(2 * time.Second)
	if violations > 0 {
		t.Errorf("%d times a block had two owners in %d drains", violations, drains)
	}
	t.Logf("%d drains", drains)
}

// The test above can fail: without the grace period it does. That corrupts
// memory, so it happens in a child.
func TestReclaimNeedsTheGracePeriod(t *testing.T) {
	if !percpu.Pinned {
		t.Skip("the portable engine waits by its locks, which cannot be left out here; the pinned build runs this")
	}
	const key = "DEWPOND_TEST_NO_GRACE"
	if os.Getenv(key) != "" {
		gracePeriod = func() {}
		violations, drains := reclaimStress(10 * time.Second)
		t.Fatalf("%d times a block had two owners in %d drains", violations, drains)
	}
	var out []byte
	for range 6 { // on a busy machine there are few drains in ten seconds
		child := exec.Command(os.Args[0], "-test.run=^TestReclaimNeedsTheGracePeriod$", "-test.timeout=30s")
		child.Env = append(os.Environ(), key+"=1")
		var err error
		if out, err = child.CombinedOutput(); err != nil && wentWrong(string(out)) {
			line, _, _ := strings.Cut(string(out), "\n--- FAIL")
			t.Logf("%v: %.300s", err, line)
			return
		}
	}
	t.Errorf("without the grace period nothing went wrong: %s", out)
}

// wentWrong reports whether a test's output tells of two owners or of corrupt memory.
func wentWrong(out string) bool {
	told := func(what string) bool { return strings.Contains(out, what) }
	doubled := told("two owners") && !told(": 0 times")
	endless := told("test timed out") // a list that has become a cycle
	return doubled || endless || told("SIGSEGV") || told("fatal error")
}
