//go:build !race

package children

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
	"github.com/dewpond/dewpond/pressure"
)

const mib, gib = int64(1 << 20), int64(1 << 30)

var coupled = offheap.Options{Coupled: true}

// printed is what a test's own process, with a memory limit, prints when it does what it is told
// there. In that process it does not return.
func printed(t *testing.T, what func(how string), how, limit string) string {
	t.Helper()
	if how, ok := role(); ok {
		what(how)
		os.Exit(0)
	}
	out, err := child(t, how, "GOMEMLIMIT="+limit, "GOGC=off").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", how, err, out)
	}
	return strings.TrimSpace(string(out))
}

func childPool(m offheap.Options) *dewpond.BytePool {
	m.Reserve = 128 * mib
	p, err := m.NewBytePool(dewpond.BytePoolOptions{
		Name: "child", Classes: []int{1 << 20}, IdleTimeout: dewpond.NoDecay, MaxIdleBytes: gib,
	})
	if err != nil {
		panic(err)
	}
	return p
}

// The runtime's own limit goes down and up with two pools.
func TestCoupledGOMEMLIMIT(t *testing.T) {
	got := printed(t, func(string) {
		show := func() { fmt.Print(debug.SetMemoryLimit(-1)>>20, " ") }
		p, q := childPool(coupled), childPool(coupled)
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
		r := childPool(coupled)
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
		said := printed(t, fill, how, "128MiB")
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
			said := printed(t, pressed, fmt.Sprint(tt.how, " ", tt.mib), "256MiB")
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
	p, err := offheap.Options{Reserve: 256 * mib, Coupled: how == "coupled"}.NewBytePool(dewpond.BytePoolOptions{Name: "child", Classes: []int{1 << 20}, IdleTimeout: dewpond.NoDecay, Zero: dewpond.ZeroNever})
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
	time.Sleep(200 * time.Millisecond) // a burst looks at the pressure too, and a reading counts for 100 ms
	fmt.Println(pressure.Current())
	runtime.KeepAlive(p)
	runtime.KeepAlive(blocks)
}

// Under a limit on address space the default reservation fails, with an error that names
// the option and a value with which a pool works.
func TestReserveUnderUlimit(t *testing.T) {
	if _, ok := role(); ok {
		_, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "limited"})
		if err == nil {
			t.Fatal("no error")
		}
		var fits int64
		_, said, _ := strings.Cut(err.Error(), "set offheap.Options.Reserve to at most ")
		if n, _ := fmt.Sscan(said, &fits); n != 1 || !strings.Contains(err.Error(), "ulimit -v") {
			t.Fatalf("the error does not say what fits: %v", err)
		}
		p, err := offheap.Options{Reserve: fits}.NewBytePool(dewpond.BytePoolOptions{Name: "limited"})
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
	limited := func(arguments ...string) (string, error) {
		c := exec.Command("/bin/sh", append([]string{"-c", `ulimit -v 8000000 && exec "$0" "$@"`}, arguments...)...)
		c.Env = append(os.Environ(), roleKey+"=is limited")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := limited(os.Args[0], "-test.run=^$"); err != nil {
		t.Skipf("this build does not start under the limit: %v\n%s", err, out)
	}
	out, err := limited(child(t, "").Args...)
	if err != nil || !strings.Contains(out, "works with") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
