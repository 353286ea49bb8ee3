package dewsync_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/misuse"
)

type request struct {
	ID   int
	Path string
}

//go:noinline
func putTwice(p *dewsync.Pool, v *request) {
	p.Put(v)
	p.Put(v)
}

// Checked mode finds double Puts and late writes of pointers, and says where.
func TestChecked(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		t.Run(mode, func(t *testing.T) {
			found := check(t, mode)
			p := &dewsync.Pool{New: func() any { return new(request) }}
			v := p.Get().(*request)
			putTwice(p, v)
			if len(*found) != 1 || (*found)[0].Kind != misuse.DoublePut || stats(t, p).Dropped.Double != 1 {
				t.Fatalf("of a double Put: %v", *found)
			}
			double := (*found)[0]
			if text := double.String(); double.Type != "dewsync_test.request" || !strings.Contains(text, "putTwice") || strings.Contains(text, "dewsync.(*Pool)") {
				t.Errorf("the type is %q\n%s", double.Type, text)
			}
			if n := idle(p); n != 1 {
				t.Errorf("%d are idle, want one", n)
			}
			*found = nil
			v.Path = "/late"
			trim(p)
			if len(*found) != 1 || (*found)[0].Kind != misuse.WriteAfterPut || (*found)[0].Field != "Path" {
				t.Errorf("of a late write: %v", *found)
			}
			runtime.KeepAlive(v)
		})
	}
}

// Each type has a size of its own: a write to the last byte is seen.
func TestCheckedTypes(t *testing.T) {
	found := check(t, "all")
	var p dewsync.Pool
	small, large := new(request), new([5000]byte)
	p.Put(small)
	p.Put(large)
	large[4999] = 1
	trim(&p)
	if len(*found) != 1 || (*found)[0].Size != 5000 || (*found)[0].Offset != 4999 {
		t.Errorf("reported %v", *found)
	}
}

// What is not a pointer to something may be one for all that are equal, and in read-only memory: it
// is not looked at. Nothing is ever written to an object.
func TestReadOnlyMemory(t *testing.T) {
	for _, mode := range []string{"off", "sampled=1/1", "all"} {
		onBoth(t, func(t *testing.T) {
			found := check(t, mode)
			constant := unsafe.StringData("in read-only memory")
			packageVariable = [4]int{1, 2, 3, 4}
			for _, x := range []any{5, byte(7), "constant", struct{}{}, new(struct{}), [2]int{1, 2}, []int{1}, func() {}} {
				p := &dewsync.Pool{New: func() any { return x }}
				for range 600 { // more than a quarantine holds
					p.Put(x)
					p.Put(p.Get()) // a second time
				}
				trim(p)
			}
			for _, x := range []any{constant, &packageVariable} {
				var p dewsync.Pool
				p.Put(x)
				for range 10 {
					if x := p.Get(); x != nil { // it may be in quarantine
						p.Put(x)
					}
				}
				trim(&p)
			}
			if len(*found) != 0 {
				t.Errorf("%s: reported %v", mode, *found)
			}
			if s := unsafe.String(constant, 7); s != "in read" || packageVariable != [4]int{1, 2, 3, 4} {
				t.Errorf("%s: is now %q, %v", mode, s, packageVariable)
			}
		})
	}
}

// Nobody has to put back what a Get has returned.
func TestLostObjectsAreNoLeak(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		found := check(t, mode)
		p := &dewsync.Pool{New: func() any { return new(request) }}
		gone := make(chan bool, 2)
		func() {
			for range 2 {
				v := p.Get().(*request)
				runtime.AddCleanup(v, func(gone chan<- bool) { gone <- true }, gone)
			}
			p.Put(p.Get())
		}()
		for range 2 {
			for collected := false; !collected; { // if it is not, the test runs into its timeout
				runtime.GC()
				select {
				case <-gone:
					collected = true
				case <-time.After(time.Millisecond):
				}
			}
		}
		for range 3 {
			runtime.GC()
		}
		if p.Get() == nil || len(*found) != 0 {
			t.Errorf("%s: reported %v", mode, *found)
		}
	}
}

// A server has what the runtime and goroutines may change while it is idle.
type server struct {
	Name    string
	readers sync.Pool
	writers dewsync.Pool // whose first use makes it
	open    atomic.Int64
	closed  int
}

// What the runtime and goroutines may change in an idle object is no misuse.
func TestIdleObjectsAreUsed(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		found := check(t, mode)
		p := &dewsync.Pool{New: func() any { return new(server) }}
		for range 3 {
			s := p.Get().(*server)
			s.readers.Put(new([64]byte))
			p.Put(s)
			s.open.Add(1)
			s.writers.Put(new([64]byte))
			runtime.GC() // moves what is in readers
			runtime.GC()
			trim(p)
		}
		if len(*found) != 0 {
			t.Errorf("%s: reported %v", mode, *found)
		}
		s := p.Get().(*server)
		p.Put(s)
		s.closed++
		trim(p)
		if len(*found) != 1 || (*found)[0].Field != "closed" {
			t.Errorf("%s: of a late write: %v", mode, *found)
		}
	}
}

// The runtime changes a timer while it is idle. A second Put of it is misuse nevertheless.
func TestTimers(t *testing.T) {
	found := check(t, "all")
	p := &dewsync.Pool{New: func() any { return time.NewTimer(time.Hour) }}
	for range 100 {
		v := p.Get().(*time.Timer)
		v.Reset(time.Hour)
		v.Stop()
		p.Put(v)
		v.Reset(time.Hour) // as the runtime may do
		v.Stop()
	}
	trim(p)
	if len(*found) != 0 {
		t.Errorf("reported %v", *found)
	}
	v := p.Get()
	p.Put(v)
	p.Put(v)
	if len(*found) != 1 || (*found)[0].Kind != misuse.DoublePut {
		t.Errorf("of a second Put: %v", *found)
	}
}
