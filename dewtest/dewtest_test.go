package dewtest_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
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
	p := dewtest.NewBytePool(f, dewpond.BytePoolOptions{Classes: []int{64, 1024}, OnViolation: func(dewpond.Violation) { heard++ }})
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
