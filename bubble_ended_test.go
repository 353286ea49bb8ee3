package dewpond_test

import (
	"context"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// A testing/synctest bubble that ends while a goroutine of its waits leaves the goroutine behind, for
// ever. The pool forgets it, and serves everybody else; while the bubble lives it does not.
func TestWaiterOfEndedBubbleIsForgotten(t *testing.T) {
	notWatched(t, "blocks that are left out are reported as leaks")
	type pool struct {
		wait  func(context.Context) error // where all is taken
		put   func()                      // gives one back
		close func() error
	}
	byBudget := func(t *testing.T) pool {
		p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64), Classes: []int{64}})
		b := p.Get(64)
		return pool{func(ctx context.Context) error { _, err := p.GetContext(ctx, 64); return err }, func() { p.Put(b) }, p.Close}
	}
	byObjects := func(t *testing.T) pool {
		p := dewpond.MustPool(dewpond.PoolOptions[int]{Name: t.Name(), Limit: 1})
		t.Cleanup(func() { p.Close() })
		o := p.Get()
		return pool{func(ctx context.Context) error { _, err := p.GetContext(ctx); return err }, func() { p.Put(o) }, p.Close}
	}
	for name, make := range map[string]func(t *testing.T) pool{"Budget": byBudget, "Pool": byObjects} {
		for what, use := range map[string]func(t *testing.T, p pool){
			"Put": func(_ *testing.T, p pool) { p.put() },
			"GetContext": func(t *testing.T, p pool) {
				var waits go125.WaitGroup
				waits.Go(func() {
					if err := p.wait(t.Context()); err != nil {
						t.Errorf("GetContext: %v", err)
					}
				})
				p.put()
				waits.Wait() // else the test runs into its timeout
			},
			"Close": func(_ *testing.T, p pool) { p.close() },
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				p, world := make(t), newOutsider(t)
				func() {
					defer func() { _ = recover() }() // the end of a bubble in which somebody waits is a panic
					synctest.Test(t, func(t *testing.T) {
						go p.wait(context.Background())
						synctest.Wait()
						if v := world.do(func() { p.close() }); !isApart(v, t.Name()) {
							t.Errorf("Close while the bubble lives: %v", v)
						}
					})
				}()
				use(t, p)
			})
		}
	}
}
