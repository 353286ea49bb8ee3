//go:build dewpond_explore

package admission

import "github.com/dewpond/dewpond/internal/magazine"

// A DrivenWaiter is a call of [Gate.Wait] or [Gate.WaitBytes] that the explorer drives. It does not
// sleep: the explorer calls Begin and then, instead of sleeping, Granted or Cancel.
type DrivenWaiter struct{ waiter *waiter }

// Drive returns a waiter for n blocks of a class, which brings some with it, or, if large
// is not 0, for that many bytes.
func (g *Gate) Drive(class uint8, n, large int, found []magazine.Block) DrivenWaiter {
	w := DrivenWaiter{g.newWaiter(class, n, large)}
	w.waiter.blocks = found
	return w
}

// Begin does what Wait does before it sleeps.
func (w DrivenWaiter) Begin() error { return w.waiter.begin() }

// Cancel does what Wait does when its context is done.
func (w DrivenWaiter) Cancel(cause error) error {
	if !w.waiter.giveUp() {
		return <-w.waiter.grant
	}
	return cause
}

// Granted returns the grant, if there is one, and leaves it in place.
func (w DrivenWaiter) Granted() (err error, ended bool) {
	select {
	case err := <-w.waiter.grant:
		w.waiter.grant <- err
		return err, true
	default:
		return nil, false
	}
}

// Blocks returns the blocks that the waiter has been given, or brings with it.
func (w DrivenWaiter) Blocks() []magazine.Block { return w.waiter.blocks }

// First reports whether the waiter is the oldest of its class.
func (w DrivenWaiter) First() bool { return w.waiter.gate.queue.firstOf(w.waiter.class) == w.waiter }

// Misses returns how many misses AllocRate has allowed the waiter.
func (w DrivenWaiter) Misses() int { return w.waiter.misses }

// Turn returns the waiter's place among those of its Budget.
func (w DrivenWaiter) Turn() uint64 { return w.waiter.turn }

// InLine reports whether AllocRate has not yet allowed the waiter its misses, and whether it
// should have.
func (w DrivenWaiter) InLine() (waits, late bool) {
	g := w.waiter.gate
	return w.waiter.line != nil, g.queue.firstInLine() == w.waiter && g.limiter.delay(w.waiter.lacks()) == 0
}

// LeaveDirectNow does what a Put does that looks at the clock and finds the last refusal long ago.
func (g *Gate) LeaveDirectNow() {
	g.queue.puts.Store(63)
	g.queue.refusal.Store(-1)
	if g.account != nil {
		g.account.budget.refusal.Store(-1)
	}
	g.leaveDirect()
}

// Misses returns how many misses AllocRate has allowed that were not given back.
func (g *Gate) Misses() int {
	if g.limiter.unlimited() {
		return 0
	}
	now, paid := g.limiter.clock()
	return int(max(0, paid.Load()-now) / g.limiter.interval)
}

// Charged returns the bytes that the pool has charged to its Budget.
func (g *Gate) Charged() int64 {
	if g.account == nil {
		return 0
	}
	return g.account.charged.Load()
}

// TimePasses lets as much time pass as AllocRate takes for n misses, and returns how many of the
// misses that were counted it allows again. It runs no timer.
func (g *Gate) TimePasses(n int) (allowed int) {
	if g.limiter.unlimited() {
		return 0
	}
	now, paid := g.limiter.clock()
	before := paid.Add(-int64(n)*g.limiter.interval) + int64(n)*g.limiter.interval
	return min(n, int(max(0, before-now)/g.limiter.interval))
}

// MissesPass does what the timer does once AllocRate allows all the misses that it ever allows
// at once.
func (g *Gate) MissesPass() {
	_, paid := g.limiter.clock()
	paid.Store(0)
	g.MissTimer()()
}
