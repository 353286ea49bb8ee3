//go:build !race

package offheap_test

import (
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// child runs a test of this binary again in a process with a memory limit of its own,
// which calls what, and returns what that printed. In the child it does not return.
func child(t *testing.T, what func(how string), how, limit string) string {
	t.Helper()
	const key = "DEWPOND_TEST_CHILD"
	if how, ok := os.LookupEnv(key); ok {
		what(how)
		os.Exit(0)
	}
	timeout := time.Duration(0) // none
	if end, ok := t.Deadline(); ok {
		timeout = time.Until(end) * 9 / 10 // so that it shows its stacks before this process's own ends
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", fmt.Sprint("-test.timeout=", timeout))
	c.Env = append(os.Environ(), key+"="+how, "GOMEMLIMIT="+limit, "GOGC=off")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", how, err, out)
	}
	return strings.TrimSpace(string(out))
}

func childPool(m offheap.Options) *dewpond.BytePool {
	m.Reserve = 128 * mib
	p, err := offheap.NewBytePool(dewpond.BytePoolOptions{
		Name: "child", Classes: []int{1 << 20}, IdleTimeout: -1, MaxIdleBytes: gib,
	}, m)
	if err != nil {
		panic(err)
	}
	return p
}

// The runtime's own limit goes down and up with two pools.
func TestCoupledGOMEMLIMIT(t *testing.T) {
	got := child(t, func(string) {
		show := func() { fmt.Print(debug.SetMemoryLimit(-1)>>20, " ") }
		p, q := childPool(on), childPool(on)
		show()
		a, b := take(p, 1<<20, 20), take(q, 1<<20, 30)
		show()
		p.Close()
		show()
		give(p, a...)
		show()
		give(q, b...)
		show()
		q.Trim()
		show()
		q.Close()
		show()
		take(childPool(offheap.Options{}), 1<<20, 10)
		show()
		debug.SetMemoryLimit(512 << 20)
		r := childPool(on)
		c := take(r, 1<<20, 12)
		show()
		debug.SetMemoryLimit(400 << 20)
		give(r, c...)
		r.Trim()
		r.Close()
		show()
		fmt.Printf("%+v", offheap.Total())
	}, "", "256MiB")
	const want = "256 206 206 226 226 256 256 256 500 400 " +
		"{Reserved:134217728 Committed:10485760 Coupled:0 LimitLowered:0 LimitAtFloor:false LimitLost:false}"
	if got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestCouplingBoundsTheProcess runs a process of 128 MiB with 80 MiB off the heap, and
// a heap that fills what it may: coupled, both together stay within the limit.
func TestCouplingBoundsTheProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes that fill their memory; the run without -short does")
	}
	fill := func(how string) {
		p := childPool(offheap.Options{Coupled: how == "coupled"})
		for _, b := range take(p, 1<<20, 80) {
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
		}
		for range 1 << 14 {
			garbage = make([]byte, 64<<10) // 1 GiB in all; GOGC is off
			garbage[len(garbage)-1] = 1
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmHWM:") {
				fmt.Println(strings.TrimSpace(strings.TrimPrefix(line, "VmHWM:")))
			}
		}
		runtime.KeepAlive(p)
	}
	peak := map[string]int{}
	for _, how := range []string{"coupled", "uncoupled"} {
		said := child(t, fill, how, "128MiB")
		var kib int
		if n, _ := fmt.Sscanf(said, "%d kB", &kib); n != 1 {
			t.Fatalf("%s: no VmHWM: %s", how, said)
		}
		peak[how] = kib >> 10
	}
	t.Logf("with a limit of 128 MiB the process was up to %d MiB large coupled, %d MiB uncoupled", peak["coupled"], peak["uncoupled"])
	if peak["coupled"] > 128+32 || peak["uncoupled"] < peak["coupled"]+32 { // the limit does not include the code of a test binary
		t.Errorf("%+v", peak)
	}
}

var garbage []byte

// Pressure counts off-heap memory once, whether it is coupled or not, and even when its
// pool was dropped with a block out.
func TestPressureCountsOffHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("some processes; the run without -short does")
	}
	for _, tt := range []struct {
		how  string
		mib  int // of 256
		high bool
	}{
		{how: "uncoupled", mib: 10},
		{how: "uncoupled", mib: 150},
		{how: "uncoupled", mib: 240, high: true},
		{how: "coupled", mib: 10},
		{how: "coupled", mib: 150}, // counted twice it would exceed the 106 MiB that are left of the limit
		{how: "coupled", mib: 240, high: true},
		{how: "dropped", mib: 240, high: true},
		{how: "closed", mib: 240},
	} {
		// The system may be short of memory too, for a while. If the level stays wrong,
		// the test runs into its timeout.
		for {
			said := child(t, pressed, fmt.Sprint(tt.how, " ", tt.mib), "256MiB")
			if tt.high == (said == "high") {
				break
			}
			t.Logf("%s, %d of 256 MiB off the heap: %s", tt.how, tt.mib, said)
			time.Sleep(time.Second)
		}
	}
}

// pressed commits so many MiB, which take no memory of the machine until they are
// written to, and prints the level.
func pressed(arg string) {
	var how string
	var n int
	fmt.Sscan(arg, &how, &n)
	p, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "child", Classes: []int{1 << 20}, IdleTimeout: -1, Zero: dewpond.ZeroNever},
		offheap.Options{Reserve: 256 * mib, Coupled: how == "coupled"})
	if err != nil {
		panic(err)
	}
	blocks := take(p, 1<<20, n)
	switch how {
	case "closed":
		give(p, blocks...)
		p.Close()
	case "dropped":
		p = nil
		for alive := true; alive; { // until it is neither registered nor idle
			runtime.GC()
			alive = false
			for range dewpond.Pools() {
				alive = true
			}
		}
	}
	fmt.Println(dewpond.Pressure())
	runtime.KeepAlive(p)
	runtime.KeepAlive(blocks)
}

// Under a limit on address space the default reservation fails, with an error that names
// the option and a value with which a pool works.
func TestReserveUnderUlimit(t *testing.T) {
	const key = "DEWPOND_TEST_ULIMIT"
	if os.Getenv(key) != "" {
		_, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "limited"}, offheap.Options{})
		if err == nil {
			t.Fatal("no error")
		}
		var fits int64
		_, said, _ := strings.Cut(err.Error(), "set offheap.Options.Reserve to at most ")
		if n, _ := fmt.Sscan(said, &fits); n != 1 || !strings.Contains(err.Error(), "ulimit -v") {
			t.Fatalf("the error does not say what fits: %v", err)
		}
		p, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "limited"}, offheap.Options{Reserve: fits})
		if err != nil {
			t.Fatalf("%d bytes should fit: %v", fits, err)
		}
		take(p, 1<<20, 10)
		garbage = make([]byte, 64<<20) // the heap has room too
		fmt.Println("works with", fits>>20, "MiB")
		return
	}
	if bits.UintSize == 32 {
		t.Skip("addresses are too few for a limit on them to be met first")
	}
	limited := func(tests string) (string, error) {
		c := exec.Command("/bin/sh", "-c", `ulimit -v 8000000 && exec "$0" "$@"`, os.Args[0], "-test.run="+tests)
		c.Env = append(os.Environ(), key+"=1")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := limited("^$"); err != nil {
		t.Skipf("this build does not start under the limit: %v\n%s", err, out)
	}
	out, err := limited("^TestReserveUnderUlimit$")
	if err != nil || !strings.Contains(out, "works with") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
