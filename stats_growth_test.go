package dewpond_test

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// backward returns the counts of a later Stats that are less than in an earlier one.
func backward(earlier, later dewpond.Stats) (back []string) {
	look := func(name string, a, b reflect.Value) {
		switch {
		case a.Kind() == reflect.Uint64 && b.Uint() < a.Uint():
			back = append(back, fmt.Sprintf("%s %d -> %d", name, a.Uint(), b.Uint()))
		case (name == "ReleasedBytes" || name == "DecommittedBytes") && b.Int() < a.Int():
			back = append(back, fmt.Sprintf("%s %d -> %d", name, a.Int(), b.Int()))
		}
	}
	all := func(prefix string, a, b reflect.Value) {
		for i := range a.NumField() {
			look(prefix+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
	all("", reflect.ValueOf(earlier), reflect.ValueOf(later))
	for i := range earlier.Classes {
		all(fmt.Sprint(earlier.Classes[i].Size, " "), reflect.ValueOf(earlier.Classes[i]), reflect.ValueOf(later.Classes[i]))
	}
	return back
}

// checkModes are the modes of checking, as DEWPOND_CHECK says them.
var checkModes = []string{"off", "sampled=1/4", "sampled=1/1", "all"}

// What leaves quarantine while Stats looks is counted no less by the next Stats, wherever
// it goes.
func TestCountsNeverGoBackFromQuarantine(t *testing.T) {
	for _, mode := range []string{"sampled=1/1", "all"} {
		t.Setenv("DEWPOND_CHECK", mode)
		for _, maxIdle := range []int{64, 4} { // with 4, one is in quarantine and the engine has no room for all
			blocks := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: int64(maxIdle) << 10, IdleTimeout: dewpond.NoDecay})
			objects := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: maxIdle, IdleTimeout: dewpond.NoDecay})
			ways := []func(){
				func() { dewpond.EndQuarantines(blocks); dewpond.EndQuarantines(objects) },
				func() { blocks.Trim(); objects.Trim() },
				func() { // what is put back makes the others leave
					for range 3 {
						fillQuarantine(blocks, objects)
					}
				},
				func() { blocks.Close(); objects.Close() },
			}
			for i, way := range ways {
				for _, p := range []dewpond.StatsSource{blocks, objects} {
					fillQuarantine(blocks, objects)
					dewpond.DuringStats(p, way)
					during := p.Stats()
					dewpond.DuringStats(p, nil)
					after := p.Stats()
					if back := backward(during, after); back != nil {
						t.Errorf("%s, room for %d, way %d: %T: %v, and Sub has Puts %d", mode, maxIdle, i, p, back, after.Sub(during).Puts)
					}
					if after.Puts != after.Gets || after.InUseBytes != 0 {
						t.Errorf("%s, room for %d, way %d: %T: %+v", mode, maxIdle, i, p, after)
					}
				}
			}
		}
	}
}

// fillQuarantine gets and puts back as many as the quarantine of either pool holds.
func fillQuarantine(blocks *dewpond.BytePool, objects *dewpond.Pool[account]) {
	var b [][]byte
	var v []*account
	for range 16 {
		b, v = append(b, blocks.Get(1000)), append(v, objects.Get())
	}
	for i := range b {
		blocks.Put(b[i])
		objects.Put(v[i])
	}
}

// Nor does any count go back while many use the pool, and it is trimmed.
func TestCountsNeverGoBack(t *testing.T) {
	needsThreads(t)
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	for _, mode := range checkModes {
		t.Setenv("DEWPOND_CHECK", mode)
		blocks := newPool(t, dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20, OnViolation: func(dewpond.Violation) {}})
		objects := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: 100, OnViolation: func(dewpond.Violation) {}})
		limited := newObjects(t, dewpond.PoolOptions[account]{Limit: 3, OnViolation: func(dewpond.Violation) {}})
		var users go125.WaitGroup
		var ended atomic.Bool
		for g := range 3 {
			users.Go(func() {
				for i := range rounds {
					b := blocks.Get(100 << (i % 6))
					v := objects.Get()
					w, _ := limited.TryGet()
					if i%1000 == 0 && g == 0 {
						blocks.Trim()
						objects.Trim()
					}
					if i%97 == 0 {
						blocks.Put(make([]byte, 100))
					}
					blocks.Put(b)
					objects.Put(v)
					limited.Put(w)
				}
			})
		}
		go func() {
			users.Wait()
			ended.Store(true)
		}()
		var before [3]dewpond.Stats
		for looks := 0; looks < 2 || !ended.Load(); looks++ {
			for i, p := range []dewpond.StatsSource{blocks, objects, limited} {
				s := p.Stats()
				if back := backward(before[i], s); back != nil && looks > 0 {
					t.Fatalf("%s: %T: %v", mode, p, back)
				}
				before[i] = s
			}
		}
		for _, p := range []dewpond.StatsSource{blocks, objects, limited} {
			if s := p.Stats(); s.Puts-s.DroppedForeign != s.Gets || s.Hits+s.Misses != s.Gets {
				t.Errorf("%s: %T: %+v", mode, p, s)
			}
		}
	}
}
