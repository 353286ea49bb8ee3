package dewpond_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// Every test runs twice: with byte pools on the Go heap and then, as with -short, with
// those of offheap.NewBytePool. For that it makes its pools with newPool, and asks
// offHeap where it expects something else there: what the stricter contract refuses.
//
//	go test -run TestGrow .                             both
//	go test -run TestGrow . -dewpond.memory=offheap     that one alone, not short
//	go test -run TestGrow . -dewpond.memory=watched     with the pools of dewtest, see watched_test.go

var memoryFlag = flag.String("dewpond.memory", "both", "where the tests' byte pools have their blocks: heap, offheap, or both, one after the other; or watched, on the heap and with dewtest")

// offHeap says which of the two it is now.
var offHeap bool

func TestMain(m *testing.M) {
	flag.Parse()
	switch *memoryFlag {
	case "heap":
		os.Exit(m.Run())
	case "offheap":
		offHeap = true
		os.Exit(m.Run())
	case "watched":
		watched = true
		os.Exit(m.Run())
	case "both":
		os.Exit(max(m.Run(), againOffHeap(m)))
	}
	fmt.Fprintf(os.Stderr, "-dewpond.memory %s: give heap, offheap, both or watched\n", *memoryFlag)
	os.Exit(2)
}

// againOffHeap runs the tests that have run on the heap, and fails where one of those
// that made a pool did not make one off the heap.
func againOffHeap(m *testing.M) (code int) {
	if len(makers.onHeap) == 0 { // nothing has run, or nothing that makes a difference
		return 0
	}
	if flag.Lookup("test.fuzzworker").Value.String() == "true" { // and the fuzzer tells it what to run
		return 0
	}
	fmt.Println("the same tests, -short, with byte pools off the heap:")
	offHeap = true
	// What benchmarks and profiles say, and what a fuzzer tries, is of one memory: the heap,
	// if not asked otherwise.
	for name, value := range map[string]string{"short": fmt.Sprint(testing.Short() || !*long), "bench": "", "fuzz": "", "cpuprofile": "", "trace": ""} {
		if err := flag.Set("test."+name, value); err != nil {
			panic(err)
		}
	}
	if code = m.Run(); code != 0 {
		return code
	}
	makers.Lock()
	defer makers.Unlock()
	for _, name := range slices.Sorted(maps.Keys(makers.onHeap)) {
		if !makers.offHeap[name] {
			fmt.Printf("%s made a pool on the heap and none off it\n", name)
			code = 1
		}
	}
	return code
}

// told are the tests that have said where their pools were.
var told sync.Map

// makers are the tests that have made pools.
var makers = struct {
	sync.Mutex
	onHeap, offHeap map[string]bool
}{onHeap: map[string]bool{}, offHeap: map[string]bool{}}

// newPool makes a pool that is closed with the test: on the memory that the tests
// run with now, unless the options name a Source.
func newPool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	t.Helper()
	if o.Name == "" {
		o.Name = t.Name()
	}
	if watches(o.Check, o.OnViolation) {
		return watchedPool(t, o)
	}
	p, err := makePool(o)
	if err != nil {
		t.Fatal(err)
	}
	own := o.Memory == nil
	if test, ok := t.(*testing.T); ok && own {
		made(test)
	}
	t.Cleanup(func() {
		out := p.Stats().InUseBytes
		wantErr := offHeap && own && out > 0
		err := p.Close()
		for err != nil && !wantErr && !t.Failed() { // a timer may be about to let a block go
			time.Sleep(time.Millisecond)
			err = p.Close()
		}
		if (err != nil) != wantErr {
			t.Errorf("Close of %q with %d bytes in use: %v", p.Name(), out, err)
		}
		if offHeap && own && t.Failed() {
			if _, again := told.LoadOrStore(t, true); !again {
				t.Log("its pools were off the heap")
			}
		}
	})
	return p
}

// onlyOnHeap ends a test that off the heap has nothing to look at.
func onlyOnHeap(t *testing.T, why string) {
	t.Helper()
	if offHeap {
		made(t)
		t.Skip("on the heap alone: " + why)
	}
}

func made(t *testing.T) {
	makers.Lock()
	defer makers.Unlock()
	name, _, _ := strings.Cut(t.Name(), "/")
	if offHeap {
		makers.offHeap[name] = true
	} else {
		makers.onHeap[name] = true
	}
}

// makePool is NewBytePool of the memory that the tests run with now.
func makePool(o dewpond.BytePoolOptions) (*dewpond.BytePool, error) {
	if !offHeap || o.Memory != nil {
		return dewpond.NewBytePool(o)
	}
	if o.Classes == nil {
		o.Classes = dewpond.DefaultClasses() // so that the tests' numbers hold
	}
	var m offheap.Options
	if ^uint(0)>>63 == 0 {
		// 32 bits address but a few pools of the default, and one whose blocks are not
		// all put back keeps its range. This is enough for the tests.
		m.Reserve = 28 << 20
	}
	return offheap.NewBytePool(o, m)
}

// A pool that a test makes past makePool is on the heap both times.
func TestPoolsAreMadeHere(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		uses := strings.Count(string(text), "dewpond."+"NewBytePool(") + strings.Count(string(text), "dewpond."+"MustBytePool(")
		switch {
		case strings.HasPrefix(name, "example_"): // shows users
		case name == "main_test.go" && uses == 1: // makePool
		case name == "watched_test.go" && uses == 1: // watchedPool
		case name == "options_test.go" && uses == 1: // MustBytePool itself
		case name == "zerovalue_test.go" && uses == 1: // what the zero value stands for
		case uses > 0:
			t.Errorf("%s makes pools past newPool and makePool", name)
		}
	}
}

// childTimeout is the flag that ends a child which hangs, with its stacks, shortly before
// this process's own timeout would end the test.
func childTimeout(t *testing.T) string {
	end, ok := t.Deadline()
	if !ok {
		return "-test.timeout=0"
	}
	return fmt.Sprint("-test.timeout=", time.Until(end)*9/10)
}

// must returns what cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// mustScatter fails the test if a pool stays gathered, however often it is used. One
// attempt, every 64th Put, may come to nothing: where a collection's work has the engine.
func mustScatter(t *testing.T, p *dewpond.BytePool, use func()) {
	t.Helper()
	for range 100_000 {
		for range 64 {
			use()
		}
		if !dewpond.Gathered(p) {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%s is gathered still", p.Name())
}
