package dewpond_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond"
	_ "github.com/dewpond/dewpond/checks" // whose log and profile the tests read
	"github.com/dewpond/dewpond/offheap"
)

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

// told are the tests that have said where their pools were.
var told sync.Map

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
	return m.NewBytePool(o)
}

// newObjects makes a Pool that is closed with the test.
func newObjects[T any](t testing.TB, o dewpond.PoolOptions[T]) *dewpond.Pool[T] {
	t.Helper()
	if o.Name == "" {
		o.Name = t.Name()
	}
	if watches(o.Check, o.OnViolation) {
		return watchedObjects(t, o)
	}
	p, err := dewpond.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// newSlices makes a SlicePool that is closed with the test.
func newSlices[T any](t testing.TB, o dewpond.SlicePoolOptions[T]) *dewpond.SlicePool[T] {
	t.Helper()
	if o.Name == "" {
		o.Name = t.Name()
	}
	if watches(o.Check, o.OnViolation) {
		return watchedSlices(t, o)
	}
	p, err := dewpond.NewSlicePool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// An account is what a pool that forgets to reset would leak.
type account struct {
	ID          int
	Name, Email string
}

// onlyOnHeap ends a test that off the heap has nothing to look at.
func onlyOnHeap(t *testing.T, why string) {
	t.Helper()
	if offHeap {
		made(t)
		t.Skip("on the heap alone: " + why)
	}
}

// needsThreads ends a test whose goroutines wait for each other without a pause, or have to
// meet, where all share one thread, as with WebAssembly: there each runs until it waits.
func needsThreads(t *testing.T) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("there is one thread, and nobody who takes it from a goroutine")
	}
}

// must returns what cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// panics returns what f panics with, or "".
func panics(f func()) (with string) {
	defer func() {
		if r := recover(); r != nil {
			with = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// panicOf returns what f panics with, or nil.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// hold gets n blocks and puts them back.
func hold(p *dewpond.BytePool, size, n int) {
	blocks := make([][]byte, n)
	for i := range blocks {
		blocks[i] = p.Get(size)
	}
	for _, b := range blocks {
		p.Put(b)
	}
}

// useUp takes what AllocLimit or Budget allows now, and returns it.
func useUp(t *testing.T, p *dewpond.BytePool, n int) (out [][]byte) {
	t.Helper()
	for {
		switch b, err := p.TryGet(n); {
		case err == nil:
			out = append(out, b)
		case errors.Is(err, dewpond.ErrExhausted):
			return out
		default:
			t.Fatal(err)
		}
	}
}

// putAll puts blocks back.
func putAll(p *dewpond.BytePool, blocks [][]byte) {
	for _, b := range blocks {
		p.Put(b)
	}
}

// mustLeaveDirect fails the test if a pool stays in direct mode, however often it is used. One
// attempt, every 64th Put, may come to nothing: where a collection's work has the engine.
func mustLeaveDirect(t *testing.T, p *dewpond.BytePool, use func()) {
	t.Helper()
	for range 100_000 {
		for range 64 {
			use()
		}
		if !dewpond.IsDirect(p) {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%s is still in direct mode", p.Name())
}

// names returns the names of all live pools.
func names() (names []string) {
	for p := range dewpond.Pools() {
		names = append(names, p.Name())
	}
	return names
}

// blocks returns how many blocks of all classes are idle.
func blocks(s dewpond.Stats) (n int) {
	for _, c := range s.Classes {
		n += c.Idle
	}
	return n
}

// addressOf returns where a slice begins.
func addressOf[T any](s []T) uintptr { return reflect.ValueOf(s).Pointer() }

// expect compares what is dropped, idle and in use.
func expect(t *testing.T, p interface{ Stats() dewpond.Stats }, want dewpond.Stats) {
	t.Helper()
	s := p.Stats()
	got := dewpond.Stats{
		DroppedForeign: s.DroppedForeign, DroppedOversize: s.DroppedOversize,
		DroppedFull: s.DroppedFull, DroppedClosed: s.DroppedClosed,
		DroppedDouble: s.DroppedDouble, DroppedFallback: s.DroppedFallback,
		IdleBytes: s.IdleBytes, InUseBytes: s.InUseBytes,
	}
	compare(t, got, want)
}

// compare compares all but the classes.
func compare(t *testing.T, got, want dewpond.Stats) {
	t.Helper()
	got.Classes, want.Classes = nil, nil
	if a, b := fields(got), fields(want); a != b {
		t.Errorf("\n got %+v\nwant %+v", a, b)
	}
}

// fields is a Stats without its slice, which == can compare.
func fields(s dewpond.Stats) (f struct {
	name, engine                                       string
	gets, hits, misses, puts, refused, limit, oversize uint64
	full, over, foreign, closed, trimmed               uint64
	double, fallback, fellBack                         uint64
	idle, use, released                                int64
}) {
	f.name, f.engine = s.Name, s.Engine
	f.gets, f.hits, f.misses, f.puts, f.refused, f.limit, f.oversize = s.Gets, s.Hits, s.Misses, s.Puts, s.Refused, s.OverLimit, s.Oversize
	f.full, f.over, f.foreign, f.closed, f.trimmed = s.DroppedFull, s.DroppedOversize, s.DroppedForeign, s.DroppedClosed, s.Trimmed
	f.double, f.fallback, f.fellBack = s.DroppedDouble, s.DroppedFallback, s.HeapFallback
	f.idle, f.use, f.released = s.IdleBytes, s.InUseBytes, s.ReleasedBytes
	return f
}

// mostCollections is how many collections it takes at most until CheckAll tells of what
// was lost.
const mostCollections = 3

// expectLeaks checks that what was lost is collected by then, and reported.
func expectLeaks[T any](t *testing.T, lost []weak.Pointer[T], told <-chan dewpond.Violation) {
	t.Helper()
	for range mostCollections {
		runtime.GC()
	}
	for i, v := range lost {
		if v.Value() != nil {
			t.Fatalf("%d of %d is alive after %d collections", i, len(lost), mostCollections)
		}
	}
	for n := 0; n < len(lost); { // what is collected is reported, sooner or later
		v := <-told
		if n += v.Count; v.Kind != dewpond.Leak || v.Got == nil || n > len(lost) {
			t.Error(v)
		}
	}
}

// allocsPerRun is the least of three averages of [testing.AllocsPerRun]: what other goroutines allocate meanwhile counts
// too, such as the cleanups of what other tests have lost.
func allocsPerRun(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for range 2 {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}

// allocatedBytes is how many bytes a call of f allocates, the least of three counts, as in allocsPerRun.
func allocatedBytes(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
