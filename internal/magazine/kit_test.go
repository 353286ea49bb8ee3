package magazine

import (
	"testing"
	"unsafe"
)

// block makes a block.
func block() unsafe.Pointer { return unsafe.Pointer(new([64]byte)) }

// check fails unless the engine, which no other goroutine uses, has as much reserved as
// its magazines have room, and the shards account for what they hold.
func check(t *testing.T, e *Engine) {
	t.Helper()
	a := e.array()
	places := make([]int64, len(e.sizes))
	for id := range a.procs {
		bytes := 0
		for class := range e.sharded {
			s := e.slotOf(a, id, class)
			room := int(s.room) + int(s.previousRoom)
			if room > 2*int(a.rounds[class]) {
				t.Errorf("shard %d has %d places of class %d in magazines of %d", id, room, class, a.rounds[class])
			}
			places[class] += int64(room)
			bytes += room * e.depots.At(uint8(class)).size
		}
		if got := a.shards[id].bytes; got != bytes || bytes > a.shardBytes {
			t.Errorf("shard %d accounts for %d bytes and holds %d, at most %d", id, got, bytes, a.shardBytes)
		}
	}
	inTransfers := int64(0)
	for class := range a.transfers {
		for i := range a.transfers[class].cells {
			if mark := a.transfers[class].cells[i].mark.Load(); mark != nil {
				places[class] += int64(a.rounds[class])
				inTransfers += int64(a.rounds[class]) * int64(e.depots.At(uint8(class)).size)
			}
		}
	}
	if left := a.left.Load(); left != inTransfers || left > e.bounds.maxBytes/4 {
		t.Errorf("the transfer caches account for %d bytes and hold %d, at most a quarter of %d", left, inTransfers, e.bounds.maxBytes)
	}
	reserved, inShards := int64(0), -inTransfers
	for class := range e.sizes {
		d := e.depots.At(uint8(class))
		if limit := e.bounds.maxPerClass; limit > 0 && places[class] > limit/2 {
			t.Errorf("class %d: the shards have %d places, half of the bound is %d", class, places[class], limit/2)
		}
		inShards += places[class] * int64(d.size)
		blocks := int64(0)
		for _, stack := range []*stack{&d.full, &d.aged} {
			for index := uint32(stack.head.Load() & indexMask); index != 0; {
				m := e.table.at(index)
				if m.n != m.room || m.n == 0 {
					t.Errorf("class %d: a magazine in the depot has %d blocks and room %d", class, m.n, m.room)
				}
				places[class] += int64(m.room)
				blocks += int64(m.n)
				index = m.next.Load()
			}
		}
		if got := d.blocks.Load(); got != blocks {
			t.Errorf("class %d: the depot has %d blocks and counts %d", class, blocks, got)
		}
		if got := d.reserved.Load(); got != places[class] {
			t.Errorf("class %d: %d places are reserved, magazines have %d", class, got, places[class])
		}
		reserved += places[class] * int64(d.size)
	}
	if inShards > e.bounds.maxBytes/4 {
		t.Errorf("the shards have places for %d bytes, at most a quarter of %d is theirs", inShards, e.bounds.maxBytes)
	}
	if got := e.Reserved(); got != reserved {
		t.Errorf("%d bytes reserved, magazines have room for %d", got, reserved)
	}
}

// at returns a section of any shard, for a test that is the engine's only user.
func at(e *Engine, id uint) section { return section{int(id), &e.array().slots[0]} }

// pushAt is Push on the P that owns shard id.
func pushAt(e *Engine, id uint, class uint8, block unsafe.Pointer) Result {
	x := at(e, id)
	if int(class) < e.sharded && e.Slot(x, slotAt(class)).Give(block) {
		return Kept
	}
	var spare *magazine
	result, wantsSpare := e.pushIn(x, class, block, false, &spare)
	if wantsSpare {
		spare = e.table.add(MaxRounds)
		result, _ = e.pushIn(x, class, block, false, &spare)
	}
	return result
}

// popAt is Pop on the P that owns shard id.
func popAt(e *Engine, id uint, class uint8) unsafe.Pointer {
	x := at(e, id)
	if int(class) < e.sharded {
		if block := e.Slot(x, slotAt(class)).Pop(); block != nil {
			return block
		}
	}
	return e.popIn(x, class)
}
