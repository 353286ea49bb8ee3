//go:build dewpond_explore

package admission

import "github.com/dewpond/dewpond/internal/magazine"

// A Waiter is a call of [Gate.Wait] or [Gate.WaitBytes] that the explorer drives. It does not
// sleep: the explorer calls Begin and then, instead of sleeping, Granted or Cancel.
type Waiter struct{ waiter *waiter }

// NewWaiter returns a Waiter for a block of a class or, if large is not 0, for that many
// bytes.
func (g *Gate) NewWaiter(class uint8, large int) Waiter { return Waiter{g.newWaiter(class, large)} }

// Begin does what Wait does before it sleeps.
func (w Waiter) Begin() error { return w.waiter.begin() }

// Cancel does what Wait does when its context is done.
func (w Waiter) Cancel(cause error) (magazine.Block, error) { return w.waiter.cancel(cause) }

// Granted returns the grant, if there is one, and leaves it in place.
func (w Waiter) Granted() (block magazine.Block, err error, ended bool) {
	select {
	case granted := <-w.waiter.grant:
		w.waiter.grant <- granted
		return granted.block, granted.err, true
	default:
		return nil, nil, false
	}
}

// InLine reports whether AllocLimit has not yet allowed the waiter a miss.
func (w Waiter) InLine() bool { return w.waiter.line != nil }

// Scatter does what a Put does that looks at the clock and finds the last refusal long ago.
func (g *Gate) Scatter() {
	g.queue.puts.Store(63)
	g.queue.refusal.Store(-1)
	if g.account != nil {
		g.account.budget.refusal.Store(-1)
	}
	g.scatter()
}

// Misses returns how many misses AllocLimit has allowed that were not given back.
func (g *Gate) Misses() int {
	if g.limiter.unlimited() {
		return 0
	}
	now, paid := g.limiter.clock()
	return int(max(0, paid.Load()-now) / g.limiter.interval)
}
