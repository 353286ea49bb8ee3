package dewpond_test

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
)

// What the program's own code does that a pool calls: it uses pools, panics, or ends its
// goroutine.

// A budgeted is a pool with blocks of 1024 bytes of an Allocator that knows them,
// and another pool of the same Budget.
type budgeted struct {
	*dewpond.BytePool
	source *panicsInFree
	budget *dewpond.Budget
	other  *dewpond.BytePool
}

// newBudgeted makes pools with a Budget of so many blocks.
func newBudgeted(t *testing.T, blocks int, mode dewpond.CheckMode, on func(misuse.Violation)) budgeted {
	p := budgeted{source: &panicsInFree{fakeSource: newFakeSource()}, budget: dewpond.MustBudget("", int64(blocks)<<10)}
	p.BytePool = newPool(t, dewpond.BytePoolOptions{
		Classes: []int{1024}, Memory: p.source, Budget: p.budget, IdleTimeout: dewpond.NoDecay, Check: mode, OnViolation: on,
	})
	p.other = newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024, 256 << 10}, Budget: p.budget, IdleTimeout: dewpond.NoDecay})
	return p
}

// idle leaves n blocks idle, which are written to afterwards if written is true.
func (p budgeted) idle(n int, written bool) {
	var all [][]byte
	for range n {
		all = append(all, p.Get(1))
	}
	for _, b := range all {
		p.Put(b)
		if written {
			b[0]++
		}
	}
}

// expectNothingLost checks that nothing is charged, allocated or waiting once nothing is idle.
func (p budgeted) expectNothingLost(t *testing.T) {
	t.Helper()
	p.Trim()
	p.other.Trim()
	if out, twice := p.source.report(); p.budget.Used() != 0 || out != 0 || twice != 0 || dewpond.Claims(p.budget) != 0 ||
		dewpond.Waiting(p.BytePool) || dewpond.Waiting(p.other) || !dewpond.Unlocked(p.budget) {
		t.Errorf("charged %d, not freed %d, freed twice %d, waiting %d", p.budget.Used(), out, twice, dewpond.Claims(p.budget))
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.IdleBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// findWays are the ways in which one write after Put is found, in a Budget of one block.
var findWays = map[string]func(t *testing.T, p budgeted){
	"Get":               func(t *testing.T, p budgeted) { p.idle(1, true); p.Put(p.Get(1)) },
	"TryGet":            func(t *testing.T, p budgeted) { p.idle(1, true); p.Put(must(p.TryGet(1))) },
	"GetContext":        func(t *testing.T, p budgeted) { p.idle(1, true); p.Put(must(p.GetContext(t.Context(), 1))) },
	"Lease":             func(t *testing.T, p budgeted) { p.idle(1, true); p.Lease(1).Release() },
	"Trim":              func(t *testing.T, p budgeted) { p.idle(1, true); p.Trim() },
	"Close":             func(t *testing.T, p budgeted) { p.idle(1, true); p.Close() },
	"Get of another":    func(t *testing.T, p budgeted) { p.idle(1, true); p.other.Put(p.other.Get(1000)) },
	"TryGet of another": func(t *testing.T, p budgeted) { p.idle(1, true); p.other.Put(must(p.other.TryGet(1000))) },
	"wait of another": func(t *testing.T, p budgeted) { // the block becomes idle when GetContext has looked for one
		b := p.Get(1)
		ctx := hookedContext{t.Context(), func() {
			p.Put(b)
			b[0]++
		}}
		p.other.Put(must(p.other.GetContext(ctx, 1000)))
	},
}

// An OnViolation may use any pool: it is called with no lock held.
func TestReportsHoldNoLock(t *testing.T) {
	for name, way := range findWays {
		t.Run(name, func(t *testing.T) {
			var p budgeted
			told := 0
			p = newBudgeted(t, 1, dewpond.CheckAll, func(v misuse.Violation) {
				if told++; v.Kind != misuse.WriteAfterPut || v.Put == nil {
					t.Error(v)
				}
				if !dewpond.Unlocked(p.budget) {
					t.Error("the lock of the Budget is held")
					return // else this waits forever
				}
				p.Put(p.Get(1))
				p.other.Put(p.other.Get(64))
				if b, err := p.TryGet(1); err == nil {
					p.Put(b)
				}
				p.Trim()
				p.Stats()
			})
			if way(t, p); told != 1 {
				t.Errorf("reported %d times", told)
			}
			p.expectNothingLost(t)
		})
	}
}

// A slog.Handler may format into a pool of the Budget under which the violation is found.
func TestLoggerMayUsePoolsOfTheBudget(t *testing.T) {
	p := newBudgeted(t, 1, dewpond.CheckAll, nil)
	unlocked := false
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(writerFunc(func(text []byte) {
		if unlocked = dewpond.Unlocked(p.budget); !unlocked {
			return // else this waits forever
		}
		b := p.other.Buffer()
		defer b.Release()
		b.Write(text)
	}), nil)))
	findWays["wait of another"](t, p)
	if s := p.Stats(); !unlocked || s.Violations != 1 {
		t.Errorf("unlocked: %v, Violations %d", unlocked, s.Violations)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(text []byte) (int, error) { f(text); return len(text), nil }

// endings are the ways in which a callback ends without returning.
var endings = map[string]func(){
	"panics":  func() { panic("a callback") },
	"Goexits": runtime.Goexit,
}

// returns runs f in a goroutine of its own and reports whether it returned.
func returns(f func()) (returned bool) {
	done := make(chan bool)
	go func() {
		defer close(done)
		defer func() { recover() }()
		f()
		returned = true
	}()
	<-done
	return returned
}

// An OnViolation that does not return loses nothing, whichever call found the violation.
func TestPanickingReportLosesNothing(t *testing.T) {
	for name, way := range findWays {
		for how, end := range endings {
			t.Run(name+" "+how, func(t *testing.T) {
				told := 0
				p := newBudgeted(t, 1, dewpond.CheckAll, func(misuse.Violation) { told++; end() })
				if returned := returns(func() { way(t, p) }); told != 1 || returned {
					t.Errorf("reported %d times, returned: %v", told, returned)
				}
				for _, q := range []*dewpond.BytePool{p.BytePool, p.other} {
					if b, err := q.TryGet(1000); err == nil {
						q.Put(b)
					} else if name != "Close" || q != p.BytePool {
						t.Errorf("afterwards: %v", err)
					}
				}
				p.expectNothingLost(t)
			})
		}
	}
}

// All that is found is reported, all that is let go is freed, and nothing of it stays
// charged, whatever panics or ends its goroutine meanwhile.
func TestPanicsDoNotEndTrim(t *testing.T) {
	const blocks = 256 // more than a magazine has
	for name, trim := range map[string]func(t *testing.T, p budgeted, b []byte){
		"Trim":              func(_ *testing.T, p budgeted, b []byte) { p.Put(b); p.Trim() },
		"Close":             func(_ *testing.T, p budgeted, b []byte) { p.Put(b); p.Close() },
		"TryGet of another": func(_ *testing.T, p budgeted, b []byte) { p.Put(b); p.other.TryGet(blocks << 10) },
		"wait of another": func(t *testing.T, p budgeted, b []byte) {
			p.other.GetContext(hookedContext{t.Context(), func() { p.Put(b) }}, blocks<<10)
		},
	} {
		for how, end := range endings {
			for _, inFree := range []bool{false, true} {
				for _, mode := range []dewpond.CheckMode{dewpond.CheckAll, dewpond.CheckOff} {
					if !inFree && mode == dewpond.CheckOff {
						continue // nothing is found
					}
					t.Run(fmt.Sprintf("%s, %s, in Free %v, checks %v", name, how, inFree, mode), func(t *testing.T) {
						told, want := 0, 0
						p := newBudgeted(t, blocks, mode, func(misuse.Violation) { told++; end() })
						b := p.Get(1)
						p.idle(blocks-1, !inFree)
						if !inFree {
							want = blocks - 1
						}
						p.source.on, p.source.end = inFree, end
						if returns(func() { trim(t, p, b) }) {
							t.Error("nothing panics")
						}
						if p.source.on = false; told != want {
							t.Errorf("reported %d times, want %d", told, want)
						}
						p.expectNothingLost(t)
					})
				}
			}
		}
	}
}

// Trim and Close drop all objects, however many Drops do not return.
func TestPanicsDoNotEndDrop(t *testing.T) {
	notWatched(t, "it counts what Drop is called for")
	const objects = 256
	for name, trim := range map[string]func(p *dewpond.Pool[account]){
		"Trim":  func(p *dewpond.Pool[account]) { p.Trim() },
		"Close": func(p *dewpond.Pool[account]) { p.Close() },
	} {
		for how, end := range endings {
			dropped := 0
			p := newObjects(t, dewpond.PoolOptions[account]{
				MaxIdle: objects, IdleTimeout: dewpond.NoDecay, Drop: func(*account) { dropped++; end() },
			})
			if err := p.Prewarm(objects); err != nil {
				t.Fatal(err)
			}
			if returns(func() { trim(p) }) {
				t.Errorf("%s: nothing %s", name, how)
			}
			if dropped != objects {
				t.Errorf("%s, where Drop %s: %d of %d objects were dropped", name, how, dropped, objects)
			}
		}
	}
}

// A batch that is refused gives all its blocks back on the stack of one.
func TestBatchGivesBackFlat(t *testing.T) {
	const blocks = 2000
	source := &shallow{fakeSource: newFakeSource()}
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Memory: source, MaxIdleBytes: 1024, IdleTimeout: dewpond.NoDecay, Check: dewpond.CheckOff})
	source.left = blocks - 1
	if err := p.GetBatch(t.Context(), make([][]byte, blocks), 1000); !errors.Is(err, errNoMemory) {
		t.Fatalf("GetBatch: %v", err)
	}
	if out, _ := source.report(); source.freed < blocks-10 || out > 1 {
		t.Errorf("%d blocks were given back, %d are out", source.freed, out)
	}
	if source.deepest > 100 {
		t.Errorf("a block was given back %d calls deep", source.deepest)
	}
}

// A shallow is a fakeSource with some blocks left, which knows how deep on the stack it frees.
type shallow struct {
	*fakeSource
	left, freed, deepest int
}

func (s *shallow) Alloc(size int) ([]byte, error) {
	if s.left == 0 {
		return nil, errNoMemory
	}
	s.left--
	return s.fakeSource.Alloc(size)
}

func (s *shallow) Free(b []byte) {
	s.freed++
	s.deepest = max(s.deepest, runtime.Callers(0, make([]uintptr, 1000)))
	s.fakeSource.Free(b)
}

// A callback of a Pool that does not return leaves no place of Limit taken.
func TestPanickingCallbacksLeaveLimit(t *testing.T) {
	ways := map[string]func(t *testing.T, p *dewpond.Pool[account]){
		"Get":        func(t *testing.T, p *dewpond.Pool[account]) { p.Put(p.Get()) },
		"TryGet":     func(t *testing.T, p *dewpond.Pool[account]) { p.Put(must(p.TryGet())) },
		"GetContext": func(t *testing.T, p *dewpond.Pool[account]) { p.Put(must(p.GetContext(t.Context()))) },
		"Trim":       func(t *testing.T, p *dewpond.Pool[account]) { p.Trim() },
	}
	for _, at := range []string{"New", "Keep", "Reset", "Drop", "OnViolation"} {
		for name, way := range ways {
			for how, end := range endings {
				for _, mode := range []string{"off", "sampled=1/1", "all"} {
					t.Run(fmt.Sprint(at, " ", how, " in ", name, ", ", mode), func(t *testing.T) {
						t.Setenv("DEWPOND_CHECK", mode)
						ends, told := "", 0 // ends is which of them does not return
						in := func(name string) {
							if ends == name {
								end()
							}
						}
						const limit = 2
						p := newObjects(t, dewpond.PoolOptions[account]{
							MaxOut: limit, MaxIdle: 1, IdleTimeout: dewpond.NoDecay,
							New:         func() *account { in("New"); return new(account) },
							Keep:        func(*account) bool { in("Keep"); return true },
							Reset:       func(v *account) { in("Reset"); *v = account{} },
							Drop:        func(*account) { in("Drop") },
							OnViolation: func(misuse.Violation) { told++; in("OnViolation") },
						})
						v, w := p.Get(), p.Get()
						p.Put(w)
						w.ID++
						ends = at
						returns(func() { way(t, p) })
						returns(func() { p.Put(v) }) // no room for it: Drop
						ends = ""
						if told != 1 && mode == "all" {
							t.Errorf("reported %d times", told)
						}
						var out []*account
						for range limit {
							out = append(out, must(p.TryGet()))
						}
						if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
							t.Errorf("one more than Limit: %v", err)
						}
						for _, v := range out {
							p.Put(v)
						}
					})
				}
			}
		}
	}
}
