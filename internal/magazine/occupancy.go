package magazine

import (
	"sync/atomic"
	"unsafe"
)

// Occupied is what one shard holds.
type Occupied struct {
	Blocks int
	Bytes  int64
}

// Occupancy returns what each shard of the array in use holds, by the number of its P; size says how
// many bytes the blocks of a class have. What is not in it is where every P finds it, in a transfer cache or the depot. It is exact while no
// other goroutine uses the engine. Otherwise a slot that is read while its owner moves a block, or
// swaps its magazines, may be off by one block or one magazine.
func (e *Engine) Occupancy(size func(class uint8) int) []Occupied {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.array()
	shards := make([]Occupied, a.procs)
	for class := range min(len(e.depots.Made()), e.sharded) {
		if e.depots.At(uint8(class)).reserved.Load() == 0 {
			continue // no slot has a place
		}
		for id := range a.procs {
			a.lock(id)
			n := e.slotOf(a, id, class).idle()
			a.unlock(id)
			shards[id].Blocks += n
			shards[id].Bytes += int64(n) * int64(size(uint8(class)))
		}
	}
	return shards
}

// fill is the part of a slot that says how full it is, in words. Its owner writes the bytes of
// it plainly while a reader of statistics loads the words, as with the counters of a slot: so no
// byte is torn, and Get and Put pay nothing.
type fill struct {
	n, room, previousN, previousRoom, rounds uint8
	state                                    hotState
	_                                        [2]byte
}

const word = unsafe.Sizeof(uintptr(0))

// In a slot these begin at a word, and are laid out as in a fill, whose last bytes are the slot's
// padding.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(slot{}.n)%word]
	_ = [1]struct{}{}[unsafe.Sizeof(fill{})-8]
	_ = [1]struct{}{}[unsafe.Offsetof(slot{}.previousN)-unsafe.Offsetof(slot{}.n)-unsafe.Offsetof(fill{}.previousN)]
	_ = [1]struct{}{}[unsafe.Offsetof(slot{}.state)-unsafe.Offsetof(slot{}.n)-unsafe.Offsetof(fill{}.state)]
)

// idle returns how many blocks a slot has. Any goroutine may ask; on the portable engine it holds
// the shard's guard.
func (s *slot) idle() int {
	var words [8 / word]uintptr
	for i := range words {
		words[i] = atomic.LoadUintptr((*uintptr)(unsafe.Add(unsafe.Pointer(&s.n), uintptr(i)*word)))
	}
	f := (*fill)(unsafe.Pointer(&words))
	blocks := int(f.n) + int(f.previousN)
	if f.state == full {
		blocks++
	}
	return blocks
}
