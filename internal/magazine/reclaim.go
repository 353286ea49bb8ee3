package magazine

// MaxUnreclaimed is the size of the largest block that [Engine.Reclaim] does not look
// for: allocating one costs less than a grace period.
const MaxUnreclaimed = 32 << 10

// Reclaim moves the blocks of a class that lie in other shards to the depots, after the
// caller's Pop has found none there, and reports whether it did. It does so for large
// blocks alone, and once between two garbage collections ([ClearStale] allows the
// next): if one P only gets and another only puts, every reclaimed block ends up in the
// other's shard again.
func (e *Engine) Reclaim(class uint8) bool {
	d := e.depots.At(class)
	if int64(d.size)*e.demand.unit <= MaxUnreclaimed || !d.several || !e.reclaimable.Load() || !e.mu.TryLock() {
		return false
	}
	defer e.mu.Unlock()
	a := e.array()
	if a.mode != sharded {
		return false
	}
	e.foldClass(a, int(class))
	if int64(e.classCounts(int(class)).Idle) <= d.blocks.Load() {
		return false
	}
	e.reclaimable.Store(false)
	e.replace(sharded)
	return true
}
