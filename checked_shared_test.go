package dewpond_test

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/check"
)

// A worker has goroutines that use it while it is idle, and tells them by what they may use then.
type worker struct {
	ID   int64
	Last struct {
		Jobs  [3]job
		Table sync.Map
	}
	sync.Mutex
	Name    string
	Readers sync.Pool
	Inner   dewpond.SlicePool[int] // the zero one, which another goroutine may use first
}

type job struct {
	Done atomic.Int64
	Size int64
}

// use does what its goroutines may do, and what the runtime does.
func (w *worker) use() {
	w.Lock()
	w.Last.Jobs[1].Done.Add(1)
	w.Last.Table.Store(1, 1)
	w.Readers.Put(new([64]byte))
	w.Inner.Put(w.Inner.Get(10))
	runtime.GC()
	w.Unlock()
}

// What goroutines and the runtime may change in an idle object is left alone, and no misuse; what
// changes elsewhere in it is, in both modes.
func TestIdleObjectsAreUsed(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		t.Run(mode, func(t *testing.T) {
			t.Setenv("DEWPOND_CHECK", mode)
			var mu sync.Mutex
			var found []dewpond.Violation
			p := newObjects(t, dewpond.PoolOptions[worker]{
				Reset: func(w *worker) {}, IdleTimeout: dewpond.NoDecay,
				OnViolation: func(v dewpond.Violation) {
					mu.Lock() // leaks are reported by cleanups, which run side by side
					defer mu.Unlock()
					found = append(found, v)
				},
			})
			w := p.Get()
			p.Put(w)
			w.use()
			p.Trim() // looks at it
			if len(found) != 0 || w.Last.Jobs[1].Done.Load() != 1 {
				t.Errorf("of what may change: %v; %d jobs are done", found, w.Last.Jobs[1].Done.Load())
			}
			for field, change := range map[string]func(w *worker){
				"ID":        func(w *worker) { w.ID++ },
				"Last.Jobs": func(w *worker) { w.Last.Jobs[1].Size++ },
				"Name":      func(w *worker) { w.Name = "late" },
			} {
				w := p.Get()
				p.Put(w)
				w.use()
				change(w)
				found = nil
				p.Trim()
				if len(found) != 1 || found[0].Kind != dewpond.WriteAfterPut || found[0].Field != field {
					t.Errorf("of a write to %s: %v", field, found)
				}
			}
		})
	}
}

// So it is with the elements of slices, which are not poisoned then, by any policy.
func TestIdleElementsAreUsed(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		t.Setenv("DEWPOND_CHECK", mode)
		for name, o := range map[string]dewpond.SlicePoolOptions[job]{
			"on Put": {},
			"on Get": {Zero: dewpond.ZeroOnGet},
			"never":  {Zero: dewpond.ZeroNever},
			"Reset":  {Reset: func([]job) {}},
		} {
			t.Run(mode+" "+name, func(t *testing.T) {
				var mu sync.Mutex
				var found []dewpond.Violation
				o.IdleTimeout, o.OnViolation = dewpond.NoDecay, func(v dewpond.Violation) {
					mu.Lock() // leaks are reported by cleanups, which run side by side
					defer mu.Unlock()
					found = append(found, v)
				}
				p := newSlices(t, o)
				s := p.Get(100)
				p.Put(s)
				before := s[99].Done.Load()
				s[99].Done.Add(1)
				p.Trim()
				if n := s[99].Done.Load(); len(found) != 0 || before != 0 || n != 1 {
					t.Errorf("counted from %d to %d; %v", before, n, found)
				}
				s = p.Get(100)
				p.Put(s)
				s[99].Size++
				p.Trim()
				if len(found) != 1 || found[0].Kind != dewpond.WriteAfterPut || found[0].Offset != 99*16+8 {
					t.Errorf("of a write to an element: %v", found)
				}
				s = p.Get(100)
				first := &s[0]
				p.Put(s)
				before = s[99].Done.Load()
				s[99].Done.Add(1)
				want := before + 1 // as without checks
				if o.Zero == dewpond.ZeroOnGet {
					want = 0
				}
				var others [][]job
				for s = p.Get(100); &s[0] != first && len(others) < 10_000; s = p.Get(100) { // a quarantine holds less
					others = append(others, s)
					p.Put(p.Get(100))
				}
				if n := s[99].Done.Load(); n != want {
					t.Errorf("counted to %d while it was idle, and the next owner has %d, want %d", before+1, n, want)
				}
				runtime.KeepAlive(others)
			})
		}
	}
}

// In an idle object a pool or Budget by value may change as a whole: its first user makes it. What has
// one owner may not.
func TestIdlePoolsAreUsed(t *testing.T) {
	for _, pool := range []any{dewpond.BytePool{}, dewpond.Pool[int]{}, dewpond.SlicePool[int]{}, dewpond.BodyPool{}, dewpond.Budget{}} {
		of := reflect.TypeOf(pool)
		if l := check.LayoutOf(of); !reflect.DeepEqual(l, check.LayoutOf(reflect.ArrayOf(int(of.Size()/8), reflect.TypeFor[atomic.Int64]()))) {
			t.Errorf("something is watched of %v", of)
		}
	}
	for _, owned := range []any{dewpond.Buffer{}, dewpond.Lease{}, dewpond.Scope{}} {
		if check.LayoutOf(reflect.TypeOf(owned)) != nil {
			t.Errorf("not all of %T is watched", owned)
		}
	}
}

// The checks do not read what a goroutine may be writing. With -race that would be a race.
func TestIdleObjectsAreUsedMeanwhile(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "all")
	tell := func(v dewpond.Violation) { t.Error(v) }
	objects := newObjects(t, dewpond.PoolOptions[worker]{New: func() *worker { return new(worker) }, OnViolation: tell})
	slices := newSlices(t, dewpond.SlicePoolOptions[job]{Zero: dewpond.ZeroNever, OnViolation: tell})
	w, s := objects.Get(), slices.Get(10)
	var end atomic.Bool
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		for !end.Load() {
			w.Last.Jobs[2].Done.Add(1)
			w.Lock()
			s[9].Done.Add(1)
			w.Unlock()
			time.Sleep(time.Microsecond)
		}
	}()
	objects.Put(w)
	slices.Put(s)
	for range 1000 { // more than a quarantine holds, so that w and s come back
		objects.Put(objects.Get())
		slices.Put(slices.Get(10))
	}
	objects.Trim()
	slices.Trim()
	end.Store(true)
	running.Wait()
}
