package dewpond_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// explained returns the Violation that a fault in f becomes, or nil if it does not fault.
func explained(t *testing.T, f func()) (v *dewpond.Violation) {
	t.Helper()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case dewpond.Violation:
			v = &r
		default:
			panic(r)
		}
	}()
	defer offheap.ExplainFaults()()
	f()
	return nil
}

// With DEWPOND_GUARD=fault who touches an idle block faults, with its own stack and those of Get and Put, and
// nobody else does.
func TestGuardFaults(t *testing.T) {
	g := guardingAs(t, "fault=1000000")
	p := g.pool(dewpond.BytePoolOptions{Name: "faulting"})
	for _, u := range []struct {
		name   string
		use    func(b []byte)
		offset int
	}{
		{"read", func(b []byte) { lateSink += b[7000] }, 7000},
		{"write", func(b []byte) { b[100]++ }, 100},
		{"in assembly", func(b []byte) { clear(b[10:]) }, 10},
	} {
		b := g.sample(p, 8000)
		got := here() - 1
		beside := g.sample(p, 8000)
		if v := explained(t, func() { u.use(b) }); v != nil {
			t.Errorf("%s: before its Put: %v", u.name, v)
		}
		p.Put(b)
		put := here() - 1
		runtime.GC()
		var touch int
		v := explained(t, func() {
			touch = here() + 1
			u.use(b)
		})
		if v == nil || v.Kind != dewpond.UseAfterPut || v.Pool != "faulting" || v.Size != 8192 {
			t.Errorf("%s: %+v", u.name, v)
			continue
		}
		if u.name != "in assembly" && v.Offset != u.offset { // which may begin at its end
			t.Errorf("%s: offset %d", u.name, v.Offset)
		}
		if g, p := at(v.Got), at(v.Put); g != got || p != put || !passes(v.Offence, touch) {
			t.Errorf("%s: got at line %d and put at %d, want %d and %d, and a touch at %d: %v", u.name, g, p, got, put, touch, v)
		}
		if found := g.sweep(); len(found) != 1 || found[0].Kind != dewpond.UseAfterPut {
			t.Errorf("%s: reported %v", u.name, found)
		}
		if v := explained(t, func() { clear(beside) }); v != nil {
			t.Errorf("%s: a block that is out: %v", u.name, v)
		}
		p.Put(beside)
	}
	if s := p.Stats(); s.Guard != "fault" || s.Violations != 3 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// passes reports whether a stack has a line of this file.
func passes(stack []uintptr, line int) bool {
	for frames := runtime.CallersFrames(stack); ; {
		f, more := frames.Next()
		if f.Line == line {
			return true
		}
		if !more {
			return false
		}
	}
}

// A system call with such a block fails, and there is no report: nothing of the program faults.
func TestGuardFaultsNoSystemCall(t *testing.T) {
	g := guardingAs(t, "fault=1000000")
	p := g.pool(dewpond.BytePoolOptions{})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	b := g.sample(p, 8000)
	p.Put(b)
	fails := func(err error) bool { return err != nil && strings.Contains(err.Error(), "bad address") } // EFAULT
	if n, err := w.Write(b); n != 0 || !fails(err) {
		t.Errorf("Write: %d, %v", n, err)
	}
	fmt.Fprint(w, "text")
	if n, err := r.Read(b); n > 0 || !fails(err) {
		t.Errorf("Read: %d, %v", n, err)
	}
	if found := g.sweep(); found != nil {
		t.Errorf("found %v", found)
	}
}

// No way to give a block back touches it after that.
func TestGuardFaultsInNoWay(t *testing.T) {
	if offHeap || watched {
		t.Skip("only pools on the heap without checks guard blocks")
	}
	for name := range ways(heapPool(t, dewpond.BytePoolOptions{})) {
		t.Run(name, func(t *testing.T) {
			g := guardingAs(t, "fault=1000000")
			p := g.pool(dewpond.BytePoolOptions{})
			way := ways(p)[name]
			for done := false; !done; g.goesOn() {
				b, put := way(5000)
				done = dewpond.IsGuarded(b)
				if v := explained(t, put); v != nil {
					t.Fatalf("its Put: %v", v)
				}
				if done {
					if v := explained(t, func() { lateSink += b[0] }); v == nil {
						t.Error("a read after it is not seen")
					}
				}
			}
		})
	}
}
