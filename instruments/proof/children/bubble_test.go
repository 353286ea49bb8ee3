package children

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
)

// A channelled owns what is of the bubble that it was made in.
type channelled struct {
	channel chan int
	timer   *time.Timer
}

// fates are how a program ends that uses such an object outside the bubble.
var fates = map[string]func(p *dewpond.Pool[channelled]){
	"send on synctest channel from outside bubble": func(p *dewpond.Pool[channelled]) {
		p.Get().channel <- 1
	},
	"reset of synctest timer from outside bubble": func(p *dewpond.Pool[channelled]) {
		p.Get().timer.Reset(time.Second)
	},
	"close of synctest channel from outside bubble": func(p *dewpond.Pool[channelled]) {
		p.Trim()
	},
}

// With DEWPOND_BUBBLES=off a program ends as docs/ownership.md tells, and else it does not.
func TestObjectsOfBubbles(t *testing.T) {
	if fate, ok := role(); ok {
		p := dewpond.MustPool(dewpond.PoolOptions[channelled]{
			New:    func() *channelled { return &channelled{make(chan int, 1), time.NewTimer(time.Hour)} },
			Reset:  func(*channelled) {},
			Drop:   func(c *channelled) { close(c.channel) },
			MaxOut: 1, // so that the object is found from any processor
		})
		synctest.Test(t, func(t *testing.T) { p.Put(p.Get()) })
		fates[fate](p)
		return
	}
	doc, err := os.ReadFile("../../../docs/ownership.md")
	if err != nil {
		t.Fatal(err)
	}
	for fate := range fates {
		out, err := child(t, fate, "DEWPOND_BUBBLES=off").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "fatal error: "+fate+"\n") {
			t.Errorf("not %q, but %v\n%s", fate, err, out)
		}
		if !strings.Contains(string(doc), "`fatal error: "+fate+"`") {
			t.Errorf("docs/ownership.md does not tell of %q", fate)
		}
		if out, err := child(t, fate).CombinedOutput(); err != nil {
			t.Errorf("kept apart: %v\n%s", err, out)
		}
	}
}

// A timers is a pool of timers.
type timers interface {
	Get() any
	Put(any)
}

// newTimer is the New of a pool of timers.
func newTimer() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// sleep sleeps by a pooled timer, as a program does to which nobody has said anything of bubbles.
func sleep(p timers) {
	t := p.Get().(*time.Timer)
	t.Reset(time.Millisecond)
	<-t.C
	p.Put(t)
}

// A program whose package variable is a pool of timers has tests in bubbles and others. With
// sync.Pool it ends, with the import changed it does not, whatever the number of processors.
func TestPooledTimer(t *testing.T) {
	if pool, ok := role(); ok {
		var p timers = &sync.Pool{New: newTimer}
		if pool == "dewsync" {
			p = &dewsync.Pool{New: newTimer}
		}
		for range 100 {
			synctest.Test(t, func(*testing.T) { sleep(p); sleep(p) })
			if pool == "sync" { // what is from outside must not come back: in a bubble it would never fire
				p.Get().(*time.Timer).Reset(time.Millisecond)
				continue
			}
			sleep(p)
		}
		return
	}
	const fate = "fatal error: reset of synctest timer from outside bubble"
	for _, processors := range []string{"GOMAXPROCS=1", "GOMAXPROCS=4"} {
		if out, err := child(t, "sync", processors).CombinedOutput(); err == nil || !strings.Contains(string(out), fate) {
			t.Errorf("sync.Pool, %s: not %q, but %v\n%s", processors, fate, err, out)
		}
		for range 10 {
			if out, err := child(t, "dewsync", processors).CombinedOutput(); err != nil {
				t.Fatalf("dewsync.Pool, %s: %v\n%s", processors, err, out)
			}
		}
	}
}

// Stats say whether a pool keeps bubbles apart, and if not, why.
func TestStatsSayWhoIsApart(t *testing.T) {
	if _, ok := role(); ok {
		objects, bytes := dewpond.MustPool(dewpond.PoolOptions[channelled]{New: func() *channelled { return new(channelled) }}), dewpond.MustBytePool(dewpond.BytePoolOptions{})
		fmt.Println("objects", objects.Stats().Bubbles)
		fmt.Println("bytes", bytes.Stats().Bubbles)
		return
	}
	say := func(c *exec.Cmd, want string) {
		t.Helper()
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want+"\n") {
			t.Errorf("%v\n%s\nwant %s", err, out, want)
		}
	}
	say(child(t, ""), "objects apart")
	say(child(t, ""), "bytes shared (its memory belongs to none)")
	say(child(t, "", "DEWPOND_BUBBLES=off"), "objects shared (DEWPOND_BUBBLES=off)")
	c := child(t, "")
	c.Args = append(c.Args, "-test.bench=XXX")
	say(c, "objects shared (-test.bench is set)")
	say(exec.Command("go", "run", "./testdata/bubbles"), "shared (this is no test)")
}

// A bubble that waits for what is out elsewhere, so that nothing can happen in it any more, is
// found. The process does not use the pool again, which still has the wait.
func TestWaitHidesNoDeadlock(t *testing.T) {
	if _, ok := role(); ok {
		limited := dewpond.MustPool(dewpond.PoolOptions[int]{MaxOut: 1}) // plain objects have no parts
		limited.Get()
		synctest.Test(t, func(*testing.T) { _, _ = limited.GetContext(context.Background()) })
		return
	}
	out, err := child(t, "waits").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "all goroutines in bubble are blocked") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Bubbles that have used a pool, one of them in vain, leave no goroutine, neither while the pool lives
// nor after Close.
func TestBubblesLeaveNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p := dewpond.MustPool(dewpond.PoolOptions[channelled]{
		New:    func() *channelled { return &channelled{make(chan int, 1), time.NewTimer(time.Hour)} },
		Drop:   func(c *channelled) { close(c.channel) },
		MaxOut: 1, IdleTimeout: time.Hour,
	})
	for range 100 {
		p.Put(p.Get())
		synctest.Test(t, func(t *testing.T) {
			held := p.Get()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := p.GetContext(ctx); err == nil {
				t.Error("an object beyond the limit")
			}
			p.Put(held)
			dewpond.MustPool(dewpond.PoolOptions[channelled]{IdleTimeout: time.Hour}).Put(new(channelled))
		})
	}
	if s := p.Stats(); s.Bubbles != "apart" || s.Waits != 100 {
		t.Errorf("%+v", s)
	}
	goleak.VerifyNone(t, before)
	p.Close()
	goleak.VerifyNone(t, before)
}
