package magazine

// bounds are what an engine may keep idle.
//
// A block is idle only in a place that was reserved before: the sum of all
// magazines' room is what reserved counts. Counting first and undoing what was
// too much is what makes the bounds hold under any number of goroutines: when a
// counter reads v after adding want, at most v-want was granted to others, so
// granting want-(v-limit) at most makes the grants come to limit at most.
type bounds struct {
	maxBytes    int64
	maxPerClass int64 // 0: none

	_        [64]byte
	reserved atomicInt64 // bytes, over all classes
	_        [64]byte
}

// shardBytes returns what one of so many shards may hold: all of them a quarter
// of MaxIdleBytes at most.
func (b *bounds) shardBytes(procs int) int {
	return int(min(ShardBytes, b.maxBytes/int64(4*procs)))
}

// rounds returns how many blocks a magazine of a class holds, where there are so
// many shards. A small bound makes small magazines: the two of every shard must
// not come to more than half of what MaxIdlePerClass allows, so that empty places
// elsewhere never keep a pool below half of its bound. Where that leaves less than
// two, magazines are no use: 1 says that the class's blocks lie singly in the depot.
func (b *bounds) rounds(size, procs int) uint32 {
	n := min(max(MagazineBytes/size, 2), MaxRounds, b.shardBytes(procs)/2/size)
	if b.maxPerClass > 0 {
		n = min(n, int(b.maxPerClass)/(4*procs))
	}
	return uint32(max(n, 1))
}

// reserve grants places for up to want blocks, and returns for how many.
func (e *Engine) reserve(d *depot, want uint32) uint32 {
	granted := int64(want)
	v := d.reserved.Add(granted)
	if limit := e.bounds.maxPerClass; limit > 0 && v > limit {
		undo := min(v-limit, granted)
		d.reserved.Add(-undo)
		granted -= undo
	}
	size := int64(d.size)
	if over := e.bounds.reserved.Add(granted*size) - e.bounds.maxBytes; over > 0 {
		undo := min((over+size-1)/size, granted)
		e.bounds.reserved.Add(-undo * size)
		d.reserved.Add(-undo)
		granted -= undo
	}
	return uint32(granted)
}

// release gives up the places of n blocks.
func (e *Engine) release(d *depot, n uint32) {
	if n > 0 {
		e.bounds.reserved.Add(-int64(n) * int64(d.size))
		d.reserved.Add(-int64(n))
	}
}

// Reserved returns the bytes of blocks that are idle or may become so without
// another reservation. It is never above MaxIdleBytes but for what reserve is
// about to undo.
func (e *Engine) Reserved() int64 { return e.bounds.reserved.Load() }
