package magazine

// Arm sends every Pop and Push the slow way, until Disarm: a caller that wants one of them learns
// of it there. It uses the test that each section makes anyway, as ClearStale does: while procs is
// 0 no section of a fast path finds a shard. The slow path knows better, see hasShard, so that an
// armed engine finds and keeps every block that it would otherwise.
//
// Whoever needs the slots for itself must clear armed before that, and before the grace period.
// Arm waits for a Trim or Close that is in progress.
func (e *Engine) Arm() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.armed.Store(true) // before procs: what finds no shard by that looks here
	e.procs.Store(0)
}

// Armed reports whether the engine is armed.
func (e *Engine) Armed() bool { return e.armed.Load() }

// Disarm ends what Arm began, unless wanted, which is called under the lock that Arm takes, says
// that it is still wanted. It does nothing while another goroutine replaces the array, clears slots
// or counts: callers of an engine that stays armed come here again.
func (e *Engine) Disarm(wanted func() bool) {
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	if e.armed.Load() && !wanted() {
		e.procs.Store(uintptr(e.array().procs))
		e.armed.Store(false)
	}
}

// hasShard reports whether the section may use a shard of its array. It is what outgrown denies,
// also in an engine that is armed: there every array that a section can have is as long as it says.
func (e *Engine) hasShard(x section) bool {
	return !e.Outgrown(x) || e.armed.Load() && uint(x.id) < x.array().procs
}
