package dewtest_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

type order struct {
	ID    int
	Lines []string
}

// A failures is a test that only records its failures.
type failures struct {
	testing.TB
	name     string
	errors   []string
	cleanups []func()
}

func (f *failures) Helper()          {}
func (f *failures) Name() string     { return f.name }
func (f *failures) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *failures) Errorf(s string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(s, args...))
}
func (f *failures) Error(args ...any) { f.errors = append(f.errors, fmt.Sprint(args...)) }
func (f *failures) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
func (f *failures) end() {
	for _, c := range slices.Backward(f.cleanups) {
		c()
	}
}

// All options but Check are the caller's, and the caller's OnViolation is called too.
func TestOptions(t *testing.T) {
	f := &failures{name: "Some/test"}
	heard := 0
	p := dewtest.NewBytePool(f, dewpond.BytePoolOptions{Classes: []int{64, 1024}, OnViolation: func(misuse.Violation) { heard++ }})
	q := dewtest.NewPool(f, dewpond.PoolOptions[order]{Name: "orders", New: func() *order { return &order{ID: 7} }, Reset: func(*order) {}})
	if b := p.Get(65); cap(b) != 1024 || p.Name() != "Some/test" {
		t.Errorf("cap %d, %s", cap(b), p.Name())
	} else {
		p.Put(b)
		p.Put(b)
	}
	leaks := q.Get()
	if leaks.ID != 7 || q.Name() != "orders" {
		t.Errorf("%s", q.Name())
	}
	if heard != 1 || len(f.errors) != 1 {
		t.Errorf("heard %d, %q", heard, f.errors)
	}
	f.end()
	runtime.KeepAlive(leaks) // otherwise the collector reports it, at any time
	if len(f.errors) != 2 || !strings.Contains(f.errors[1], "leak") || p.Stats().IdleBytes != 0 {
		t.Errorf("at the end: %q", f.errors)
	}
	for option, newPool := range map[string]func(){
		"MaxIdleBytes": func() { dewtest.NewBytePool(f, dewpond.BytePoolOptions{MaxIdleBytes: -7}) },
		"MaxIdle -7":   func() { dewtest.NewPool(f, dewpond.PoolOptions[order]{MaxIdle: -7}) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, option) { // Fatal's panic is a string
					t.Errorf("%s: %q", option, text)
				}
			}()
			newPool()
		}()
	}
}

// A violation after the end of the test does not use the test's t.
func TestAfterTheEnd(t *testing.T) {
	f := &failures{name: "over"}
	p := dewtest.NewBytePool(f, dewpond.BytePoolOptions{})
	f.end()
	b := p.Get(10)
	p.Put(b[5:])
	if f.errors != nil || p.Stats().Violations != 1 {
		t.Errorf("%q, %+v", f.errors, p.Stats())
	}
	p.Put(b)
}

//go:noinline
func loseBlock(p *dewpond.BytePool) { p.Get(100) }

// endWhile ends the test f while an OnViolation is at work on a goroutine of the collector, which
// goes on when end waits for it or has ended.
func endWhile(f *failures, begun, goOn, ended chan bool) {
	for {
		runtime.GC()
		select {
		case <-begun:
			go func() {
				stacks := make([]byte, 1<<20)
				for {
					select {
					case <-ended:
					default:
						if !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("check.(*errand).wait(")) {
							runtime.Gosched()
							continue
						}
					}
					close(goOn)
					return
				}
			}()
			f.end()
			close(ended)
			return
		default:
		}
	}
}

// A leak that the collector has found, and reports while the test ends, fails the test.
func TestEndWaitsForTheCollector(t *testing.T) {
	for _, inBubble := range []bool{false, true} {
		t.Run(fmt.Sprint("in a bubble: ", inBubble), func(t *testing.T) {
			f := &failures{name: "leaky"}
			begun, goOn, ended := make(chan bool), make(chan bool), make(chan bool)
			play := func(*testing.T) {
				loseBlock(dewtest.NewBytePool(f, dewpond.BytePoolOptions{OnViolation: func(misuse.Violation) {
					close(begun)
					<-goOn
				}}))
				endWhile(f, begun, goOn, ended)
			}
			if inBubble {
				synctest.Test(t, play)
			} else {
				play(t)
			}
			if len(f.errors) != 1 || !strings.Contains(f.errors[0], "leak") {
				t.Errorf("the test has failed with %q", f.errors)
			}
		})
	}
}

// So does what a timer has found, or is about to find, in the bubble in which a callback sleeps.
func TestEndWaitsForATimer(t *testing.T) {
	for want, misuse := range map[string]func(tb testing.TB, sleep func()) (after func()){
		"leak": func(tb testing.TB, sleep func()) (after func()) {
			p := dewtest.NewBytePool(tb, dewpond.BytePoolOptions{LeakAfter: time.Minute, OnViolation: func(misuse.Violation) { sleep() }})
			b := p.Get(100)
			return func() { p.Put(b) }
		},
		"write after Put": func(tb testing.TB, sleep func()) (after func()) {
			p := dewtest.NewPool(tb, dewpond.PoolOptions[order]{Drop: func(*order) { sleep() }})
			v := p.Get()
			p.Put(v)
			v.ID = 7
			p.Stats() // locks what a tick locks: for the race detector the write is before it
			return func() {}
		},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failures{name: "misused"}
				woke := time.Time{}
				after := misuse(f, func() {
					time.Sleep(time.Hour)
					woke = time.Now()
				})
				time.Sleep(10 * time.Minute)
				if f.end(); len(f.errors) != 1 || !strings.Contains(f.errors[0], want) || !woke.Equal(time.Now()) {
					t.Errorf("the test has failed with %q, and the callback has ended at %v; it is %v", f.errors, woke, time.Now())
				}
				after()
				time.Sleep(2 * time.Hour) // where nobody has waited
			})
		})
	}
}
