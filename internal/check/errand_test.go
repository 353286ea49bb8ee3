package check

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// Await waits for what one Checker has found and not told of yet, or for what all have.
func TestAwait(t *testing.T) {
	for name, work := range map[string]func(c *Checker){
		"a write that Get finds": func(c *Checker) {
			b := make([]byte, 64)
			c.Get(at(b), b, false)
			c.Put(at(b), len(b))
			c.Get(at(b), b, false) // it is not poisoned
		},
		"a leak that a cleanup finds": func(c *Checker) {
			b := make([]byte, 64)
			c.Get(at(b), b, true)
			collectedBlock{c, at(b), c.shard(at(b)).at[at(b)], 0}.collected()
			runtime.KeepAlive(b)
		},
		"a report that panics": func(c *Checker) {
			defer func() { _ = recover() }()
			c.Errand(func() { c.report(misuse.Violation{}); panic("after it") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var told atomic.Int64
				c := New(false, func(misuse.Violation) {
					time.Sleep(time.Hour)
					told.Add(1)
				})
				other := New(false, nil)
				for _, of := range []*Checker{c, nil} {
					go work(c)
					synctest.Wait()
					before := told.Load()
					if Await(other); told.Load() != before {
						t.Error("waits for another Checker")
					}
					if Await(of); told.Load() != before+1 {
						t.Errorf("told of %d, want %d", told.Load(), before+1)
					}
				}
				if Await(nil); time.Since(begun) != 2*time.Hour {
					t.Errorf("after two hours it is %v", time.Since(begun))
				}
			})
		})
	}
}
