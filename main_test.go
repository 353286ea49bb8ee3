package dewpond_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Every test runs twice: with byte pools on the Go heap and then, as with -short, with
// those of offheap.NewBytePool. For that it makes its pools with newPool, and asks
// offHeap where it expects something else there: what the stricter contract refuses.
//
//	go test -run TestGrow .                             both
//	go test -run TestGrow . -dewpond.memory=offheap     that one alone, not short
//	go test -run TestGrow . -dewpond.memory=watched     with the pools of dewtest, see watchedPool

var memoryFlag = flag.String("dewpond.memory", "both", "where the tests' byte pools have their blocks: heap, offheap, or both, one after the other; or watched, on the heap and with dewtest")

var long = flag.Bool("dewpond.long", false, "run the stress tests fifty times as long, as .ci/nightly does")

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

// makers are the tests that have made pools.
var makers = struct {
	sync.Mutex
	onHeap, offHeap map[string]bool
}{onHeap: map[string]bool{}, offHeap: map[string]bool{}}

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
		case name == "bubbles_test.go" && uses == 1: // an Allocator is one for all bubbles
		case name == "kit_test.go" && uses == 2: // makePool, watchedPool
		case name == "options_test.go" && uses == 1: // MustBytePool itself
		case name == "zero_test.go" && uses == 1: // what the zero value stands for
		case uses > 0:
			t.Errorf("%s makes pools past newPool and makePool", name)
		}
	}
}
