package admission

// What tests of pools look at.

// Waiting returns how many wait for blocks of the pool's classes.
func (g *Gate) Waiting() int64 { return g.queue.waiting.Load() }

// MissTimer returns what the timer does that was armed last for those who wait for
// AllocLimit.
func (g *Gate) MissTimer() func() {
	g.queue.mu.Lock()
	defer g.queue.mu.Unlock()
	number := g.queue.timer
	return func() { g.hasMisses(number) }
}

// Waiting returns how many wait for bytes of the Budget.
func (b *Budget) Waiting() int64 { return b.waiting.Load() }

// Members returns how many pools the Budget knows.
func (b *Budget) Members() int { return len(*b.members.Load()) }

// Unlocked reports whether nobody holds the lock.
func (b *Budget) Unlocked() bool {
	if !b.mu.TryLock() {
		return false
	}
	b.mu.Unlock()
	return true
}
