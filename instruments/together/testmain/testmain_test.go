// Package testmain_test has the tests of dewtest.Main and of what dewtest's pools report: in processes
// of their own, which fail where they should. With -short they are left out. It is no package of
// internal/..., whose functions a report's last lines leave out as the library's.
package testmain_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// The tests run themselves in a child, whose environment says which scenario it plays,
// whether there is a pool before Main, and whether there is a Main at all.
const (
	scenarioKey = "DEWTEST_SCENARIO"
	earlyKey    = "DEWTEST_EARLY"
	mainKey     = "DEWTEST_MAIN"
)

// early is a pool of a package-level variable, if the scenario has one.
var early = func() *dewpond.BytePool {
	if os.Getenv(earlyKey) == "" {
		return nil
	}
	return dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "early"})
}()

func TestMain(m *testing.M) {
	if os.Getenv(mainKey) != "" {
		dewtest.Main(m)
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("left out by -short: these tests start processes")
		return
	}
	os.Exit(m.Run())
}

type order struct {
	ID    int
	Lines []string
}

//go:noinline
func takeBytes(p *dewpond.BytePool) []byte { return p.Get(100) }

//go:noinline
func takeBatch(t *testing.T, p *dewpond.BytePool) [][]byte {
	blocks := make([][]byte, 3)
	if err := p.GetBatch(t.Context(), blocks, 100); err != nil {
		t.Error(err)
	}
	return blocks
}

//go:noinline
func takeOrder(p *dewpond.Pool[order]) *order { return p.Get() }

//go:noinline
func takeOrders(p *dewpond.SlicePool[order]) []order { return p.Get(100) }

//go:noinline
func adoptBytes(p *dewpond.BytePool, b []byte) { p.Adopt(b) }

//go:noinline
func bodiesOf(p *dewpond.BytePool) *dewpond.BodyPool { return p.Bodies() }

//go:noinline
func putBody(p *dewpond.BodyPool, b []byte) { p.Put(b) }

// held is the block that a package keeps, and kept are more.
var (
	held []byte
	kept [][]byte
)

// A scenario is a test as a user's package has it.
type scenario struct {
	name  string
	early bool   // has a pool older than Main
	main  bool   // has a Main
	want  string // in a report; "" for a scenario that passes
	stack string // what the report's stacks must name
	play  func(t *testing.T)
}

var scenarios = []scenario{
	{name: "clean", play: func(t *testing.T) {
		p, q := dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), dewtest.NewPool(t, dewpond.PoolOptions[order]{})
		p.Put(takeBytes(p))
		q.Put(takeOrder(q))
		q.Put(new(order))
	}},
	{name: "leak", want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		held = takeBytes(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
	}},
	{name: "forgotten", want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		takeBytes(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
	}},
	{name: "collected", want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		takeBytes(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
		for !t.Failed() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}},
	{name: "1000 leaks", want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		loseMany(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
	}},
	{name: "1000 double Puts", want: "double Put", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		b := takeBytes(p)
		for range 1001 {
			p.Put(b)
		}
	}},
	{name: "leak off the heap", want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		held = takeBytes(dewtest.NewOffHeapBytePool(t, dewpond.BytePoolOptions{}))
	}},
	{name: "double Put", want: "double Put", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		b := takeBytes(p)
		p.Put(b)
		p.Put(b)
	}},
	{name: "write after Put", want: "write after Put", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		b := takeBytes(p)
		p.Put(b)
		b[99] = 1
	}},
	{name: "batch: leak", want: "leak", stack: "takeBatch", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		for i, b := range takeBatch(t, p) {
			if i != 1 {
				p.Put(b)
			}
		}
	}},
	{name: "batch: double Put", want: "double Put", stack: "takeBatch", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 4096)})
		for _, b := range takeBatch(t, p) {
			defer p.Put(b)
			p.Put(b)
		}
	}},
	{name: "bubble: batches", play: inBubble(func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{AllocRate: 3, Budget: dewpond.MustBudget("", 512)})
		for range 3 { // each waits for the one before
			go func() {
				for _, b := range takeBatch(t, p) {
					defer p.Put(b)
				}
				time.Sleep(time.Minute)
			}()
		}
		time.Sleep(time.Hour)
	})},
	{name: "leases: clean", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		b := p.Buffer()
		b.WriteString("text")
		b.ReadByte()
		for _, l := range []dewpond.Lease{p.Lease(1000), p.LeaseOf(takeBytes(p)), b.Lease()} {
			part := l.Slice(1, 2)
			l.Truncate(1).Release()
			part.Release()
		}
		block := takeBytes(p)
		p.Put(block)
	}},
	{name: "lease: a part is not released", want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		l := p.LeaseOf(takeBytes(p))
		l.Slice(1, 2)
		l.Release()
	}},
	{name: "lease: Put of the block too", want: "double Put", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		b := takeBytes(p)
		l := p.LeaseOf(b)
		p.Put(b)
		l.Release()
	}},
	{name: "lease: write to a part after Release", want: "write after Put", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		l := p.LeaseOf(takeBytes(p))
		b := l.Truncate(50).Bytes()
		l.Release()
		b[49] = 1
	}},
	{name: "adopted: clean", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		block := takeBytes(p)
		p.Adopt(append(block, make([]byte, 2000)...))
		p.Put(block)
		h := p.Bodies()
		h.Put(append(h.Get(), make([]byte, 5000)...))
		runtime.GC()
		runtime.GC()
	}},
	{name: "adopted: twice", want: "double Put", stack: "adoptBytes", play: func(t *testing.T) {
		p, b := dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), make([]byte, 2000)
		adoptBytes(p, b)
		adoptBytes(p, b)
	}},
	{name: "adopted: written to later", want: "write after Put", stack: "adoptBytes", play: func(t *testing.T) {
		p, b := dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), make([]byte, 2000)
		adoptBytes(p, b)
		b[99] = 1
	}},
	{name: "adopted: the inside of a block", want: "Put of the inside of a block", stack: "takeBytes", play: func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
		b := takeBytes(p)
		adoptBytes(p, b[32:])
		p.Put(b)
	}},
	{name: "body pool: put twice", want: "double Put", stack: "putBody", play: func(t *testing.T) {
		h := dewtest.NewBytePool(t, dewpond.BytePoolOptions{}).Bodies()
		b := h.Get()
		putBody(h, b)
		putBody(h, b)
	}},
	{name: "body pool: leak", want: "leak", stack: "bodiesOf", play: func(t *testing.T) {
		h := bodiesOf(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
		h.Put(h.Get())
		h.Get()
		runtime.GC()
	}},
	{name: "object: leak", want: "leak", stack: "takeOrder", play: func(t *testing.T) {
		takeOrder(dewtest.NewPool(t, dewpond.PoolOptions[order]{}))
	}},
	{name: "object: double Put", want: "double Put", stack: "takeOrder", play: func(t *testing.T) {
		p := dewtest.NewPool(t, dewpond.PoolOptions[order]{MaxOut: 4})
		v := takeOrder(p)
		p.Put(v)
		p.Put(v)
	}},
	{name: "object: write after Put", want: "write after Put", stack: "takeOrder", play: func(t *testing.T) {
		p := dewtest.NewPool(t, dewpond.PoolOptions[order]{})
		v := takeOrder(p)
		p.Put(v)
		v.ID = 7
	}},
	{name: "slice: clean", play: func(t *testing.T) {
		p, q := dewtest.NewSlicePool(t, dewpond.SlicePoolOptions[order]{}), dewtest.NewSlicePool(t, dewpond.SlicePoolOptions[float64]{})
		s := takeOrders(p)
		p.Put(s)
		q.Put(q.Get(100))
	}},
	{name: "slice: leak", want: "leak", stack: "takeOrders", play: func(t *testing.T) {
		takeOrders(dewtest.NewSlicePool(t, dewpond.SlicePoolOptions[order]{}))
	}},
	{name: "slice: double Put", want: "double Put", stack: "takeOrders", play: func(t *testing.T) {
		p := dewtest.NewSlicePool(t, dewpond.SlicePoolOptions[order]{Budget: dewpond.MustBudget("", 1<<20)})
		s := takeOrders(p)
		p.Put(s)
		p.Put(s)
	}},
	{name: "slice: write after Put", want: "write after Put", stack: "takeOrders", play: func(t *testing.T) {
		p := dewtest.NewSlicePool(t, dewpond.SlicePoolOptions[order]{})
		s := takeOrders(p)
		p.Put(s)
		s[99].Lines = []string{"late"}
	}},
	{name: "slice: foreign Put", want: "Put of a foreign slice", stack: "TestScenario", play: func(t *testing.T) {
		dewtest.NewSlicePool(t, dewpond.SlicePoolOptions[order]{}).Put(make([]order, 4))
	}},
	{name: "bubble: clean", play: inBubble(func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{AllocRate: 2, Budget: budget})
		q := dewtest.NewPool(t, dewpond.PoolOptions[order]{MaxOut: 1})
		for range 3 { // each waits for the one before
			go func() {
				b, err := p.GetContext(t.Context(), 4096)
				if err != nil {
					t.Error(err)
				}
				v, err := q.GetContext(t.Context())
				if err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
				q.Put(v)
				p.Put(b)
			}()
		}
		time.Sleep(time.Hour)
	})},
	{name: "bubble: waits at the end", play: inBubble(func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{AllocRate: 1, MaxIdleBytes: dewpond.NoIdle})
		p.Put(takeBytes(p))
		go func() {
			if _, err := p.GetContext(context.Background(), 100); err != dewpond.ErrClosed {
				panic(fmt.Sprint("the end of the test ended the wait with ", err))
			}
		}()
		synctest.Wait()
	})},
	{name: "bubble: leak", want: "leak", stack: "takeBytes", play: inBubble(func(t *testing.T) {
		held = takeBytes(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
		time.Sleep(time.Hour)
	})},
	{name: "bubble: collected", want: "leak", stack: "takeBytes", play: inBubble(func(t *testing.T) {
		takeBytes(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
		for !t.Failed() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})},
	{name: "bubble: old", want: "leak", stack: "takeBytes", play: inBubble(func(t *testing.T) {
		p := dewtest.NewBytePool(t, dewpond.BytePoolOptions{LeakAfter: time.Hour})
		b := takeBytes(p)
		time.Sleep(2 * time.Hour)
		p.Put(b)
	})},
	{name: "bubble: write after Put", want: "write after Put", stack: "takeOrder", play: inBubble(func(t *testing.T) {
		p := dewtest.NewPool(t, dewpond.PoolOptions[order]{})
		v := takeOrder(p)
		p.Put(v)
		v.ID = 7
	})},

	{name: "Main: clean", main: true, play: func(t *testing.T) {
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{})
		p.Put(takeBytes(p))
	}},
	{name: "Main: clean, early", main: true, early: true, play: func(t *testing.T) {
		early.Put(takeBytes(early))
		dewpond.Default().Put(dewpond.Default().Get(10))
	}},
	{name: "Main: leak", main: true, want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		held = takeBytes(dewpond.Default())
	}},
	{name: "Main: body pool: leak", main: true, want: "leak", stack: "bodiesOf", play: func(t *testing.T) {
		bodiesOf(dewpond.Default()).Get()
	}},
	{name: "Main: leak of a closed pool", main: true, want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{})
		takeBytes(p)
		p.Close()
	}},
	{name: "Main: leak of a pool that is collected", main: true, want: "leak", stack: "takeOrder", play: func(t *testing.T) {
		takeOrder(dewpond.MustPool(dewpond.PoolOptions[order]{}))
	}},
	{name: "Main: 1000 leaks", main: true, want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		loseMany(dewpond.Default())
	}},
	{name: "Main: leak of a closed pool that a timer has found", main: true, want: "leak", stack: "takeBytes", play: func(*testing.T) {
		found := make(chan bool)
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{
			LeakAfter: time.Nanosecond, IdleTimeout: 100 * time.Millisecond,
			OnViolation: func(misuse.Violation) {
				close(found)
				for stacks := make([]byte, 1<<20); !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("check.(*errand).wait(")); {
					runtime.Gosched()
				}
			},
		})
		held = takeBytes(p)
		<-found
		p.Close()
	}},
	{name: "Main: early: leak", main: true, early: true, want: "leak", stack: "takeBytes", play: func(t *testing.T) {
		takeBytes(early)
	}},
	{name: "Main: early: double Put", main: true, early: true, want: "double Put", stack: "takeBytes", play: func(t *testing.T) {
		b := takeBytes(early)
		early.Put(b)
		early.Put(b)
	}},
	{name: "Main: early: write after Put", main: true, early: true, want: "write after Put", stack: "takeBytes", play: func(t *testing.T) {
		b := takeBytes(early)
		early.Put(b)
		b[0] = 1
	}},
	{name: "Main: violation of a closed pool that has its own OnViolation", main: true, want: "write after Put", stack: "takeOrder", play: func(t *testing.T) {
		p := dewpond.MustPool(dewpond.PoolOptions[order]{OnViolation: func(misuse.Violation) {}})
		v := takeOrder(p)
		p.Put(v)
		v.ID = 7
		p.Close()
	}},
}

// loseMany loses a thousand blocks at one line. The collector finds some of them before the
// end.
func loseMany(p *dewpond.BytePool) {
	for n := range 1000 {
		if b := takeBytes(p); n%2 == 0 {
			kept = append(kept, b)
		}
		if n%100 == 0 {
			runtime.GC()
		}
	}
}

// inBubble plays a scenario in a bubble.
func inBubble(play func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, play) }
}

// TestScenario is the test that a child runs.
func TestScenario(t *testing.T) {
	name, ok := os.LookupEnv(scenarioKey)
	if !ok {
		t.Skip("for children alone")
	}
	scenarios[slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })].play(t)
}

// child prepares a run of one of these tests with an environment.
func child(t *testing.T, test string, environment ...string) *exec.Cmd {
	timeout := time.Duration(0) // none
	if end, ok := t.Deadline(); ok {
		timeout = time.Until(end) * 9 / 10 // so that it shows its stacks before this process's own timeout
	}
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$", fmt.Sprint("-test.timeout=", timeout))
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DEWPOND_") || strings.HasPrefix(v, "DEWTEST_") })
	c.Env = append(c.Env, environment...)
	return c
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// A misuse fails a package's tests, with a report that names the stack; correct use
// passes.
func TestScenarios(t *testing.T) {
	if os.Getenv(scenarioKey) != "" {
		return
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			c := child(t, "TestScenario", scenarioKey+"="+s.name)
			if s.main {
				c.Env = append(c.Env, mainKey+"=1")
			}
			if s.early {
				c.Env = append(c.Env, earlyKey+"=1")
			}
			out, err := c.CombinedOutput()
			text := string(out)
			if s.want == "" {
				if err != nil || strings.Contains(text, "dewpond:") || !strings.Contains(text, "PASS") {
					t.Errorf("%v:\n%s", err, text)
				}
				return
			}
			if exitCode(t, err) != 1 {
				t.Errorf("%v", err)
			}
			if n := strings.Count(text, "dewpond: "); n != 1 || !strings.Contains(text, "dewpond: "+s.want+": ") || !strings.Contains(text, "testmain_test."+s.stack+"\n") {
				t.Errorf("%d reports, want one %s with %s in its stacks:\n%s", n, s.want, s.stack, text)
			}
			if n := strings.Count(text, "\n"); n > 30 {
				t.Errorf("%d lines:\n%s", n, text)
			}
			if strings.Contains(s.name, "1000") && !tellsOf1000(text) {
				t.Errorf("the counts are not 1000:\n%s", text)
			}
			// Without Main the test itself fails.
			if got := strings.Contains(text, "--- FAIL: TestScenario"); got == s.main {
				t.Errorf("the test itself failed: %v\n%s", got, text)
			}
		})
	}
}

// tellsOf1000 reports whether the first report and what a line says of the rest are a
// thousand misuses after the one that is right, or of a thousand blocks.
func tellsOf1000(text string) bool {
	first, rest := 1, 0
	if m := regexp.MustCompile(`: (\d+) blocks of`).FindStringSubmatch(text); m != nil {
		first, _ = strconv.Atoi(m[1])
	}
	if m := regexp.MustCompile(`(?:leak|double Put), (\d+) times more: \S+testmain_test\.\S+ \S+testmain_test.go:`).FindStringSubmatch(text); m != nil {
		rest, _ = strconv.Atoi(m[1])
	}
	return first+rest == 1000
}

//go:noinline
func writeLate(b []byte) { b[7] = 1 }

// With a pool off the heap a late write shows who writes: in a fault that is fatal, and where
// ExplainFaults is deferred in a report with all stacks.
func TestLateWriteOffTheHeap(t *testing.T) {
	const key = "DEWTEST_LATE_WRITE"
	if how, ok := os.LookupEnv(key); ok {
		p := dewtest.NewOffHeapBytePool(t, dewpond.BytePoolOptions{})
		b := takeBytes(p)
		if how == "explained" {
			defer offheap.ExplainFaults()()
		}
		p.Put(b)
		writeLate(b)
		return
	}
	p := dewtest.NewOffHeapBytePool(t, dewpond.BytePoolOptions{})
	if b := p.Get(100); cap(b) != 128 {
		t.Errorf("cap %d: not the classes of NewBytePool", cap(b))
	} else {
		p.Put(b)
	}
	q, err := offheap.NewBytePool(dewpond.BytePoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	mapped := q.Stats().OffHeap.Reserved > 0
	for _, how := range []string{"explained", "fatal"} {
		out, err := child(t, "TestLateWriteOffTheHeap", key+"="+how).CombinedOutput()
		text := string(out)
		want := []string{"testmain_test.writeLate(", "unexpected fault address"}
		switch {
		case !mapped: // here it is as on the heap
			want = []string{"dewpond: write after Put: ", "testmain_test.takeBytes\n", "written at offset 7,"}
		case how == "explained":
			want = []string{"testmain_test.writeLate\n", "dewpond: use after Put: 128 bytes", "touched at offset 7\n", "\ttouched at\n", "\tgot at\n", "testmain_test.takeBytes\n"}
		}
		for _, w := range want {
			if !strings.Contains(strings.ReplaceAll(text, "    ", "\t"), w) {
				t.Errorf("%s: ended with %v, without %q:\n%s", how, err, w, text)
			}
		}
	}
}

// TestPlain is the test that the children below run: it says in which process it runs.
func TestPlain(t *testing.T) {
	if os.Getenv(mainKey) == "" {
		t.Skip("for children alone")
	}
	fmt.Printf("in %d with %s, early: %v, arguments %q\n", os.Getppid(), os.Getenv("DEWPOND_CHECK"), early != nil, os.Args[1:])
	switch os.Getenv("DEWTEST_END") {
	case "exit":
		os.Exit(33)
	case "fail":
		t.Fail()
	case "wait":
		for { // until the signal or the timeout
			time.Sleep(time.Hour)
		}
	}
}

// Main runs the tests again only if a pool is older, and not if the environment sets
// the mode; and it exits with the second process's exit code.
func TestMainRunsAgain(t *testing.T) {
	for _, tt := range []struct {
		name, early, check, end string
		again                   bool
		sees                    string
		code                    int
	}{
		{name: "no pool yet", sees: "all"},
		{name: "a pool", early: earlyKey + "=1", again: true, sees: "all"},
		{name: "a pool, and it fails", early: earlyKey + "=1", again: true, sees: "all", end: "fail", code: 1},
		{name: "a pool, and it exits", early: earlyKey + "=1", again: true, sees: "all", end: "exit", code: 33},
		{name: "a pool, but off", early: earlyKey + "=1", check: "off", sees: "off"},
		{name: "a pool, and all", early: earlyKey + "=1", check: "all", sees: "all"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := child(t, "TestPlain", mainKey+"=1", "DEWPOND_CHECK="+tt.check, "DEWTEST_END="+tt.end)
			if tt.early != "" {
				c.Env = append(c.Env, tt.early)
			}
			profile := filepath.Join(t.TempDir(), "cpu")
			c.Args = append(c.Args, "-test.cpuprofile="+profile, "-test.v")
			out, err := c.CombinedOutput()
			if code := exitCode(t, err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			parent := os.Getpid()
			if tt.again {
				parent = c.Process.Pid
			}
			want := fmt.Sprintf("in %d with %s, early: %v, arguments %q\n", parent, tt.sees, tt.early != "", c.Args[1:])
			if strings.Count(string(out), want) != 1 || !strings.Contains(string(out), "=== RUN   TestPlain") {
				t.Errorf("want %sgot %s", want, out)
			}
			if s, err := os.Stat(profile); tt.end != "exit" && (err != nil || s.Size() == 0) {
				t.Errorf("the profile: %v", err)
			}
		})
	}
}

// A signal to the first process reaches the tests.
func TestMainPassesSignalsOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no os.Interrupt for others")
	}
	c := child(t, "TestPlain", mainKey+"=1", earlyKey+"=1", "DEWTEST_END=wait")
	complaint := new(bytes.Buffer)
	c.Stderr = complaint
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 3)
	if _, err := out.Read(line); err != nil { // the test has begun
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	// A child that the signal does not reach ends by its timeout, and says so.
	if err := c.Wait(); exitCode(t, err) != 2 || strings.Contains(complaint.String(), "timed out") {
		t.Errorf("ended with %v:\n%s", err, complaint)
	}
}
