package attribution

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"runtime/pprof"
	"testing"

	"github.com/google/pprof/profile"
)

// made returns a profile whose stacks are given with their innermost frames first.
func made(samples int64, stacks ...[]string) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
	}
	functions := map[string]*profile.Function{}
	for _, stack := range stacks {
		s := &profile.Sample{Value: []int64{samples, samples * 1e7}}
		for _, name := range stack {
			if functions[name] == nil {
				functions[name] = &profile.Function{ID: uint64(len(functions) + 1), Name: name}
				p.Function = append(p.Function, functions[name])
			}
			l := &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: functions[name]}}}
			p.Location = append(p.Location, l)
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func TestKinds(t *testing.T) {
	for _, of := range []struct {
		kind  string
		stack []string
	}{
		{"allocation", []string{"runtime.nextFreeFast", "runtime.mallocgcSmallScanNoHeader", "runtime.mallocgc", "runtime.newobject", "main.work"}},
		{"marking", []string{"runtime.gcDrainN", "runtime.gcAssistAlloc1", "runtime.systemstack", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.work"}},
		{"marking", []string{"runtime.scanObjectsSmall", "runtime.gcDrain", "runtime.gcBgMarkWorker.func2"}},
		{"idle_marking", []string{"runtime.scanObjectsSmall", "runtime.gcDrain", "runtime.gcDrainMarkWorkerIdle", "runtime.gcBgMarkWorker.func2"}},
		{"sweeping", []string{"runtime.(*sweepLocked).sweep", "runtime.(*mcentral).cacheSpan", "runtime.mallocgc", "main.work"}},
		{"clearing", []string{"runtime.memclrNoHeapPointers", "runtime.mallocgcLarge", "runtime.mallocgc", "main.work"}},
		{"returning", []string{"runtime.madvise", "runtime.sysUnusedOS", "runtime.sysUnused", "runtime.bgscavenge"}},
		{"pool_operations", []string{"internal/runtime/atomic.Load", "sync.(*Pool).pin", "sync.(*Pool).Get", "main.work"}},
		{"pool_operations", []string{"github.com/dewpond/dewpond/internal/magazine.(*Engine).Get", "github.com/dewpond/dewpond.(*BytePool).Get", "main.work"}},
		{"allocation", []string{"runtime.mallocgc", "main.makeOne", "sync.(*Pool).Get", "main.work"}},
		{"lock_waits", []string{"runtime.procyield", "runtime.lock2", "runtime.(*mheap).alloc", "runtime.mallocgc"}},
		{"page_faults", []string{"clear_page_erms", "asm_exc_page_fault", "runtime.memclrNoHeapPointers", "runtime.mallocgc"}},
		{"", []string{"runtime.futex", "runtime.notesleep", "runtime.findRunnable", "runtime.schedule"}},
		{"", []string{"main.work", "main.main"}},
	} {
		p := made(200, of.stack, []string{"main.main"})
		all, err := Read(p)
		if err != nil {
			t.Fatal(err)
		}
		if kind := new(Counter).KindOf(p.Sample[0]); kind != of.kind {
			t.Errorf("%v: %q, want %q", of.stack, kind, of.kind)
		}
		for _, s := range all.Kinds {
			want := int64(0)
			if s.Kind == of.kind {
				want = 200
			}
			if s.Samples != want {
				t.Errorf("%v: %d samples of %s, want %d", of.stack, s.Samples, s.Kind, want)
			}
		}
		if want := int64(200); of.kind != "" && of.kind != "idle_marking" && all.Memory.Samples != want || all.Samples != 400 || all.Seconds != 4 {
			t.Errorf("%v: %+v", of.stack, all)
		}
	}
}

// The intervals are those of tables of Wilson's.
func TestShare(t *testing.T) {
	for _, of := range []struct {
		n, all    int64
		low, high float64
	}{{0, 100, 0, 0.0370}, {50, 100, 0.4038, 0.5962}, {230, 1000, 0.2050, 0.2571}, {100, 100, 0.9630, 1}} {
		got := share(of.n, of.all)
		if got.Mid != float64(of.n)/float64(of.all) || math.Abs(got.Low-of.low) > 1e-4 || math.Abs(got.High-of.high) > 1e-4 {
			t.Errorf("%d of %d: %v, want [%v, %v]", of.n, of.all, got, of.low, of.high)
		}
	}
	if share(1, 99).Known() {
		t.Error("99 samples have shares")
	}
}

func TestCannotTell(t *testing.T) {
	all, err := Read(made(200, []string{"main.work"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Kinds {
		if known := s.Share.Known(); known == (s.Kind == "page_faults") {
			t.Errorf("%s without the kernel's frames: %v", s.Kind, s.Share)
		}
	}
	heap := made(1, []string{"main.work"})
	heap.SampleType = []*profile.ValueType{{Type: "inuse_space", Unit: "bytes"}, {Type: "inuse_objects", Unit: "count"}}
	if _, err := Read(heap); !errors.Is(err, ErrType) {
		t.Errorf("a heap profile: %v", err)
	}
}

var sink []*[64]*int

// What this Go writes has the names that are looked for. Work goes on until there are samples of each
// kind: how long that takes is no matter.
func TestNamesOfThisGo(t *testing.T) {
	if testing.Short() {
		t.Skip("profiles until it has seen enough")
	}
	var c Counter
	for {
		var text bytes.Buffer
		if err := pprof.StartCPUProfile(&text); err != nil {
			t.Skip("another profile runs: ", err)
		}
		for range 20 {
			sink = sink[:0]
			for range 30_000 {
				sink = append(sink, new([64]*int))
			}
			large = make([]byte, 8<<20)
			runtime.GC()
		}
		pprof.StopCPUProfile()
		p, err := profile.Parse(&text)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, s := range c.Shares().Kinds {
			if s.Samples > 0 && (s.Kind == "allocation" || s.Kind == "marking" || s.Kind == "clearing") {
				seen++
			}
		}
		if seen == 3 {
			break
		}
	}
}

var large []byte

func FuzzAdd(f *testing.F) {
	var text bytes.Buffer
	if err := made(200, []string{"runtime.mallocgc", "main.work"}).Write(&text); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := profile.ParseData(text)
		if err != nil {
			return
		}
		all, err := Read(p)
		if err != nil {
			return
		}
		for _, s := range append(all.Kinds, all.Memory) {
			if s.Samples < 0 || s.Samples > all.Samples || s.Share.Known() && !(s.Share.Low >= 0 && s.Share.High <= 1) {
				t.Errorf("%+v of %d", s, all.Samples)
			}
		}
	})
}
