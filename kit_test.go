package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/dewpond/dewpond"
	_ "github.com/dewpond/dewpond/checks" // whose log and profile the tests read
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// newPool makes a pool that is closed with the test: on the memory that the tests
// run with now, unless the options name an Allocator.
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

// useUp takes what AllocRate or Budget allows now, and returns it.
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
		Dropped: s.Dropped, DoubleReleases: s.DoubleReleases,
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

// fields is a Stats without its slices, which == can compare.
func fields(s dewpond.Stats) (f struct {
	name, engine                                              string
	gets, hits, misses, puts, refused, rate, maxOut, oversize uint64
	dropped                                                   dewpond.DropStats
	doubleReleases, trimmed, fellBack                         uint64
	idle, use, released                                       int64
}) {
	f.name, f.engine = s.Name, s.Engine
	f.gets, f.hits, f.misses, f.puts, f.refused, f.oversize = s.Gets, s.Hits, s.Misses, s.Puts, s.Refused, s.Oversize
	f.rate, f.maxOut = s.OverAllocRate, s.OverMaxOut
	f.dropped, f.doubleReleases, f.trimmed, f.fellBack = s.Dropped, s.DoubleReleases, s.Trimmed, s.OffHeap.Fallback
	f.idle, f.use, f.released = s.IdleBytes, s.InUseBytes, s.ReleasedBytes
	return f
}

// mostCollections is how many collections it takes at most until CheckAll tells of what
// was lost.
const mostCollections = 3

// expectLeaks checks that what was lost is collected by then, and reported.
func expectLeaks[T any](t *testing.T, lost []weak.Pointer[T], told <-chan misuse.Violation) {
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
		if n += v.Count; v.Kind != misuse.Leak || v.Got == nil || n > len(lost) {
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

// A fakeSource is a dewpond.Allocator that knows every block it has given out.
type fakeSource struct {
	mu     sync.Mutex
	blocks map[*byte]int  // size of each that is out
	freed  map[*byte]bool // kept alive, so that no address comes twice
	twice  int            // Frees of what was not out
	fail   error
}

func newFakeSource() *fakeSource {
	return &fakeSource{blocks: map[*byte]int{}, freed: map[*byte]bool{}}
}

func (f *fakeSource) Alloc(size int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	b := make([]byte, size)
	f.blocks[unsafe.SliceData(b)] = size
	return b, nil
}

func (f *fakeSource) Free(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := unsafe.SliceData(b)
	if f.blocks[at] != cap(b) || len(b) != cap(b) {
		f.twice++
	}
	delete(f.blocks, at)
	f.freed[at] = true
}

func (f *fakeSource) Owns(b []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blocks[unsafe.SliceData(b)] == cap(b)
}

func (f *fakeSource) report() (out, twice int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.blocks), f.twice
}

// A fixedSource is an Allocator that returns itself for every block.
type fixedSource []byte

func (s fixedSource) Alloc(int) ([]byte, error) { return s, nil }
func (s fixedSource) Free([]byte)               {}
func (s fixedSource) Owns([]byte) bool          { return true }

// A panicsInFree is a fakeSource whose Free panics while it is on, or ends in another way.
type panicsInFree struct {
	*fakeSource
	on  bool
	end func() // nil: it panics
}

func (s *panicsInFree) Free(b []byte) {
	s.fakeSource.Free(b)
	switch {
	case s.on && s.end != nil:
		s.end()
	case s.on:
		panic("Free")
	}
}

// A meter is a dewpond.Allocator that knows how much it has given out, and how much it
// ever had at once.
type meter struct {
	bytes, most atomic.Int64
	fail        atomic.Bool
}

// errNoMemory is what a meter returns while it fails.
var errNoMemory = errors.New("no memory today")

func (m *meter) Alloc(size int) ([]byte, error) {
	if m.fail.Load() {
		return nil, errNoMemory
	}
	bytes := m.bytes.Add(int64(size))
	for most := m.most.Load(); bytes > most && !m.most.CompareAndSwap(most, bytes); most = m.most.Load() {
	}
	return make([]byte, size), nil
}

func (m *meter) Free(b []byte) { m.bytes.Add(-int64(len(b))) }

func (m *meter) Owns([]byte) bool { return true }

// A hookedContext calls something before its owner waits.
type hookedContext struct {
	context.Context
	before func()
}

func (c hookedContext) Err() error {
	c.before()
	return nil
}

// With -dewpond.memory=watched the pools that tests make are those of dewtest: a test that
// puts back twice, writes late or leaves anything out fails. A pool for which a test sets
// Check or OnViolation is as it asks. A test that cannot run with such pools says so in its
// first line, with notWatched, leavesOut or releasesTwice.

// watched says that it is so now.
var watched bool

// notWatched skips a test that pools of dewtest would fail, because of what it looks at or
// does.
func notWatched(t testing.TB, why string) {
	t.Helper()
	if watched {
		t.Skip("not with the pools of dewtest: " + why)
	}
}

// Why more than one test is not watched.
const (
	misuses     = "it misuses pools"
	putsForeign = "it puts back foreign slices"
	seesDirect  = "it looks at direct mode, which a pool with CheckAll never leaves"
	countsMiss  = "it counts misses, and a quarantine makes more"
	countsAlloc = "it counts allocations"
	seesShards  = "with CheckAll no block is in a shard"
)

// leavers are the tests that do what pools of dewtest fail others for, by name.
var leavers sync.Map // of *leaver

// A leaver is a test that says which kinds of misuse are its purpose, and whether it has
// committed each.
type leaver struct {
	sync.Mutex
	commits map[misuse.Kind]bool
}

// leavesOut says that a test ends with blocks or objects out: it is watched, but not for
// leaks. It fails if nothing is out, so that it does not stay where it is not needed.
func leavesOut(t *testing.T, what string) {
	t.Helper()
	commits(t, misuse.Leak, "it says that it leaves out "+what+", and leaves out nothing")
}

// releasesTwice says that a test releases leases twice: it is watched, but not for that.
func releasesTwice(t *testing.T) {
	t.Helper()
	commits(t, misuse.DoubleRelease, "it says that it releases twice, and does not")
}

func commits(t *testing.T, kind misuse.Kind, otherwise string) {
	t.Helper()
	if !watched {
		return
	}
	l := leaverOf(t)
	if l == nil {
		l = &leaver{commits: map[misuse.Kind]bool{}}
		leavers.Store(t.Name(), l)
	}
	l.commits[kind] = false
	t.Cleanup(func() { // after those of the test's pools
		leavers.Delete(t.Name())
		l.Lock()
		defer l.Unlock()
		if !l.commits[kind] && !t.Failed() && !t.Skipped() {
			t.Error(otherwise)
		}
	})
}

// leaverOf returns what a test has said of itself, or nil.
func leaverOf(t testing.TB) *leaver {
	test, _, _ := strings.Cut(t.Name(), "/")
	l, _ := leavers.Load(test)
	found, _ := l.(*leaver)
	return found
}

// tellOthers fails the test at any violation but those that it says it commits.
func (l *leaver) tellOthers(t testing.TB) func(misuse.Violation) {
	return func(v misuse.Violation) {
		l.Lock()
		defer l.Unlock()
		if _, ok := l.commits[v.Kind]; !ok {
			t.Errorf("%v", v)
			return
		}
		l.commits[v.Kind] = true
	}
}

// closeAtEnd looks for leaks and closes a pool with the test.
func closeAtEnd(t testing.TB, p interface {
	dewpond.StatsSource
	Close() error
}) {
	t.Cleanup(func() {
		dewtest.ReportLeaks(p)
		p.Close()
	})
}

// watches reports whether a pool of these options is to fail its test at any misuse.
func watches(mode dewpond.CheckMode, on func(misuse.Violation)) bool {
	return watched && mode == dewpond.CheckOff && on == nil
}

// watchedPool is dewtest.NewBytePool, watchedObjects is dewtest.NewPool, and watchedSlices
// is dewtest.NewSlicePool, but for tests that leave something out. A pool decays only if
// the test sets an IdleTimeout: while a collection's tick holds a block of the quarantine,
// a count may miss it.
func watchedPool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = dewpond.NoDecay
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewBytePool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellOthers(t)
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p)
	return p
}

func watchedObjects[T any](t testing.TB, o dewpond.PoolOptions[T]) *dewpond.Pool[T] {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = dewpond.NoDecay
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewPool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellOthers(t)
	p, err := dewpond.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p)
	return p
}

func watchedSlices[T any](t testing.TB, o dewpond.SlicePoolOptions[T]) *dewpond.SlicePool[T] {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = dewpond.NoDecay
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewSlicePool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellOthers(t)
	p, err := dewpond.NewSlicePool(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p)
	return p
}

// ourLoop and theirLoop are one loop written twice: through an interface or a type
// parameter the calls would be indirect, which users' calls are not.
func ourLoop(p *dewpond.BytePool, size, n int) {
	for range n {
		b := p.Get(size)
		b[0], b[len(b)-1] = 1, 1
		p.Put(b)
	}
}

func theirLoop(p *classPools, size, n int) {
	for range n {
		b := p.Get(size)
		b[0], b[len(b)-1] = 1, 1
		p.Put(b)
	}
}

// parallel shares n among a goroutine for each P.
func parallel(n int, loop func(n int)) {
	var wg go125.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for range procs {
		wg.Go(func() { loop(n / procs) })
	}
	wg.Wait()
}

// compareRounds runs ours and its control in turn and reports the medians of their
// rounds' times, and of the rounds' ratios.
func compareRounds(b *testing.B, ours, control func(n int)) {
	compareRoundsOf(b, 20_000, ours, control)
}

// compareRoundsOf is compareRounds with rounds of so many uses. Of ten rounds, with -benchtime 10x, the
// median ratio of all rounds that there could be is between ratio-low and ratio-high in 98 runs of 100.
func compareRoundsOf(b *testing.B, round int, ours, control func(n int)) {
	ours(round/20 + 1)
	control(round/20 + 1)
	var took, controls, ratios []float64
	for b.Loop() {
		start := time.Now()
		ours(round)
		middle := time.Now()
		control(round)
		took = append(took, float64(middle.Sub(start))/float64(round))
		controls = append(controls, float64(time.Since(middle))/float64(round))
		ratios = append(ratios, took[len(took)-1]/controls[len(controls)-1])
	}
	reportRatios(b, took, controls, ratios)
}

// compareUses compares two uses one at a time, in turn, each after what before does and with its time alone
// measured. The figure of a round is the median of its uses: a processor that is shared spoils few of them.
func compareUses(b *testing.B, round int, before func(use func()), ours, control func()) {
	time := func(use func()) float64 {
		before(use)
		start := time.Now()
		use()
		return float64(time.Since(start))
	}
	var took, controls, ratios []float64
	for b.Loop() {
		var us, them []float64
		for i := range round {
			if i%2 == 0 {
				us, them = append(us, time(ours)), append(them, time(control))
			} else {
				them, us = append(them, time(control)), append(us, time(ours))
			}
		}
		took, controls = append(took, middle(us)), append(controls, middle(them))
		ratios = append(ratios, middle(us)/middle(them))
	}
	reportRatios(b, took, controls, ratios)
}

// reportRatios reports the medians of rounds, and an interval of the median ratio.
func reportRatios(b *testing.B, took, controls, ratios []float64) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(middle(took), "dewpond-ns")
	b.ReportMetric(middle(controls), "control-ns")
	b.ReportMetric(middle(ratios), "ratio")
	if n := len(ratios); n > 5 { // of fewer there is no interval
		half := int(math.Sqrt(float64(n)))
		b.ReportMetric(ratios[n/2-half-1], "ratio-low")
		b.ReportMetric(ratios[n/2+half], "ratio-high")
	}
}

// middle returns the median.
func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// versus compares two loops, in one goroutine and in one for each P.
func versus(b *testing.B, name string, ours, control func(n int)) {
	b.Run(name+"/goroutines=1", func(b *testing.B) { compareRounds(b, ours, control) })
	b.Run(name+"/goroutines=GOMAXPROCS", func(b *testing.B) {
		compareRounds(b, func(n int) { parallel(n, ours) }, func(n int) { parallel(n, control) })
	})
}

// A trade is an object of 128 bytes, two whole cache lines, pointers among them.
type trade struct {
	ID          int64
	Name, Email string
	Price       [11]int64
}
