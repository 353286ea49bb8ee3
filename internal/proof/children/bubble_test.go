package children

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
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

// docs/ownership.md tells how it ends.
func TestObjectsOfBubbles(t *testing.T) {
	if fate, ok := role(); ok {
		p := dewpond.MustPool(dewpond.PoolOptions[channelled]{
			New:   func() *channelled { return &channelled{make(chan int, 1), time.NewTimer(time.Hour)} },
			Reset: func(*channelled) {},
			Drop:  func(c *channelled) { close(c.channel) },
			Limit: 1, // so that the object is found from any processor
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
		out, err := child(t, fate).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "fatal error: "+fate+"\n") {
			t.Errorf("not %q, but %v\n%s", fate, err, out)
		}
		if !strings.Contains(string(doc), "`fatal error: "+fate+"`") {
			t.Errorf("docs/ownership.md does not tell of %q", fate)
		}
	}
}

// A bubble that waits for what is out elsewhere, so that nothing can happen in it any more, is
// found. The process does not use the pool again, which still has the wait.
func TestWaitHidesNoDeadlock(t *testing.T) {
	if _, ok := role(); ok {
		limited := dewpond.MustPool(dewpond.PoolOptions[account]{Limit: 1})
		limited.Get()
		synctest.Test(t, func(*testing.T) { _, _ = limited.GetContext(context.Background()) })
		return
	}
	out, err := child(t, "waits").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "all goroutines in bubble are blocked") {
		t.Errorf("%v\n%s", err, out)
	}
}
