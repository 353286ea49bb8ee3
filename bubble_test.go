package dewpond_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
)

// A user's tests share the default pool, some of them in bubbles. A timer that was
// armed in one and reset outside would be a fatal error, which no test survives: so
// it is a process of its own that must come to its end.
func TestDefaultPoolInBubbles(t *testing.T) {
	needsProcesses(t)
	const key = "DEWPOND_TEST_BUBBLES"
	if first := os.Getenv(key); first != "" {
		useDefaultPoolInBubbles(t, first)
		return
	}
	for _, first := range []string{"inside", "outside"} {
		child := exec.Command(os.Args[0], "-test.run=^TestDefaultPoolInBubbles$", childTimeout(t))
		child.Env = append(os.Environ(), key+"="+first)
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "all 60 hit, armed true\n") {
			t.Errorf("first used %s: %v\n%s", first, err, out)
		}
	}
}

func useDefaultPoolInBubbles(t *testing.T, first string) {
	use := func() {
		for range 10 {
			dewpond.Put(dewpond.Get(200_000)) // a class that is in no shard
		}
	}
	bubble := func() {
		synctest.Test(t, func(t *testing.T) {
			use()
			time.Sleep(10 * time.Second) // ticks, if there is a timer of the bubble's
			use()
		})
	}
	if first == "outside" {
		use()
	} else {
		synctest.Test(t, func(t *testing.T) { use() })
	}
	before := dewpond.Default().Stats()
	bubble()
	use()
	bubble()
	use()
	if s := dewpond.Default().Stats().Sub(before); s.Hits == s.Gets {
		fmt.Printf("all %d hit, armed %v\n", s.Gets, dewpond.Armed(dewpond.Default()))
	}
}

// A channelled owns what is of the bubble that it was made in.
type channelled struct {
	channel chan int
	timer   *time.Timer
}

// fates are how a program ends that uses such an object outside the bubble.
var fates = map[string]func(t *testing.T, p *dewpond.Pool[channelled]){
	"send on synctest channel from outside bubble": func(t *testing.T, p *dewpond.Pool[channelled]) {
		p.Get().channel <- 1
	},
	"reset of synctest timer from outside bubble": func(t *testing.T, p *dewpond.Pool[channelled]) {
		p.Get().timer.Reset(time.Second)
	},
	"close of synctest channel from outside bubble": func(t *testing.T, p *dewpond.Pool[channelled]) {
		p.Trim()
	},
}

// docs/ownership.md tells how it ends, each in a process of its own.
func TestObjectsOfBubbles(t *testing.T) {
	needsProcesses(t)
	const key = "DEWPOND_TEST_FATE"
	if fate := os.Getenv(key); fate != "" {
		p := newObjects(t, dewpond.PoolOptions[channelled]{
			New:   func() *channelled { return &channelled{make(chan int, 1), time.NewTimer(time.Hour)} },
			Reset: func(*channelled) {},
			Drop:  func(c *channelled) { close(c.channel) },
			Limit: 1, // so that the object is found from any processor
		})
		synctest.Test(t, func(t *testing.T) { p.Put(p.Get()) })
		fates[fate](t, p)
		return
	}
	doc, err := os.ReadFile("docs/ownership.md")
	if err != nil {
		t.Fatal(err)
	}
	for fate := range fates {
		child := exec.Command(os.Args[0], "-test.run=^TestObjectsOfBubbles$")
		child.Env = append(os.Environ(), key+"="+fate)
		out, err := child.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "fatal error: "+fate+"\n") {
			t.Errorf("not %q, but %v\n%s", fate, err, out)
		}
		if !strings.Contains(string(doc), "`fatal error: "+fate+"`") {
			t.Errorf("docs/ownership.md does not tell of %q", fate)
		}
	}
}

// A bubble in which nothing can happen any more is found: though a pool's timer is armed
// in it, and also where it waits for what is out elsewhere.
func TestPoolsHideNoDeadlock(t *testing.T) {
	needsProcesses(t)
	const key = "DEWPOND_TEST_DEADLOCK"
	blocks := map[string]func(t *testing.T){
		"timer": func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{})
			p.Put(p.Get(1 << 20))
			if !dewpond.Armed(p) {
				panic("no timer is armed")
			}
			select {}
		},
	}
	limited := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
	v := limited.Get()
	blocks["wait"] = func(*testing.T) { _, _ = limited.GetContext(context.Background()) }
	if block := os.Getenv(key); block != "" {
		synctest.Test(t, blocks[block])
		return
	}
	for block := range blocks {
		child := exec.Command(os.Args[0], "-test.run=^TestPoolsHideNoDeadlock$")
		child.Env = append(os.Environ(), key+"="+block)
		out, err := child.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "all goroutines in bubble are blocked") {
			t.Errorf("%s: %v\n%s", block, err, out)
		}
	}
	limited.Put(v)
}

// Pools without waits are used by several bubbles and outside, all at once.
func TestPoolsInParallelBubbles(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v dewpond.Violation) { t.Error(v) }})
	objects := newObjects(t, dewpond.PoolOptions[account]{})
	use := func() {
		for i := range 200 {
			b, l, v := p.Get(i*31), dewpond.Default().Lease(i), objects.Get()
			var buffer dewpond.Buffer
			buffer.WriteString("x")
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
				p.Trim()
			}
			buffer.Release()
			objects.Put(v)
			if err := l.Release(); err != nil {
				t.Error(err)
			}
			p.Put(b)
		}
	}
	t.Run("all", func(t *testing.T) {
		t.Run("outside", func(t *testing.T) {
			t.Parallel()
			use()
		})
		for range 4 {
			t.Run("bubble", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					go use()
					use()
					time.Sleep(time.Hour)
					use()
				})
			})
		}
	})
	if s := p.Stats(); s.InUseBytes != 0 || s.Violations != 0 {
		t.Errorf("%+v", s)
	}
}

// A refusal by one clock is long ago by another: it keeps no pool from its shards.
func TestPoolLeavesDirectByAnyClock(t *testing.T) {
	notWatched(t, seesDirect)
	refused := func(p *dewpond.BytePool) {
		out := useUp(t, p, 64)
		if !dewpond.IsDirect(p) {
			t.Error("not in direct mode after a refusal")
		}
		putAll(p, out)
	}
	leaves := func(p *dewpond.BytePool) { mustLeaveDirect(t, p, func() { p.Put(p.Get(64)) }) }
	for _, budget := range []bool{false, true} {
		for _, first := range []string{"outside", "in a bubble, later"} {
			t.Run(fmt.Sprint(first, ", with a Budget ", budget), func(t *testing.T) {
				o := dewpond.BytePoolOptions{AllocLimit: 1}
				if budget {
					o.Budget = dewpond.NewBudget(1 << 20)
				}
				p := newPool(t, o)
				if first == "outside" {
					refused(p)
				} else {
					synctest.Test(t, func(*testing.T) { time.Sleep(time.Hour); refused(p) })
				}
				synctest.Test(t, func(*testing.T) { leaves(p) })
			})
		}
	}
}
