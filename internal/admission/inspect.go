package admission

// The functions of this file are for tests of pools.

// Waiting returns how many waiters wait for blocks of the pool's classes.
func (g *Gate) Waiting() int64 { return g.queue.waiting.Load() }

// MissTimer returns the function of the timer that was last armed for waiters in line for
// AllocRate.
func (g *Gate) MissTimer() func() {
	g.queue.mu.Lock()
	defer g.queue.mu.Unlock()
	number := g.queue.timer
	return func() { g.hasMisses(number) }
}

// Waiting returns how many waiters wait for bytes of the Budget.
func (b *Budget) Waiting() int64 { return b.waiting.Load() }

// Looked returns how often refusals have looked at a pool.
func (b *Budget) Looked() uint64 { return b.members.looked.Load() }

// Unlocked reports whether the lock is free.
func (b *Budget) Unlocked() bool {
	if !b.mu.TryLock() {
		return false
	}
	b.mu.Unlock()
	return true
}
