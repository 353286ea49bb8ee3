package magazine

import "unsafe"

// DropSpares lets go of empty magazines. It is meant to be called periodically. Of the
// magazines that no Put needed since the last call it drops an eighth, at least one,
// and all of them once nothing is idle any more.
func (e *Engine) DropSpares() {
	all := e.Reserved() == 0
	for class := range e.depots.Made() {
		d := e.depots.At(uint8(class))
		spares := d.spares.Load()
		n := (min(d.spareLow.Swap(spares), spares) + 7) / 8
		if all {
			n = spares
		}
		for range n {
			m := e.takeSpare(d)
			if m == nil {
				break
			}
			e.table.remove(m)
		}
	}
}

// Overhead returns the bytes that the engine uses besides the blocks and the Engine
// struct: magazines, shards and tables.
func (e *Engine) Overhead() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.array()
	bytes := unsafe.Sizeof(*a) + size(e.depots.Made()) + size(a.rounds) + size(a.slots) + size(a.shards) + size(a.transfers) + size(a.counted)
	for id := range a.counted {
		bytes += size(a.counted[id])
	}
	return int64(bytes) + e.table.bytes.Load()
}

func size[T any](s []T) uintptr { return uintptr(cap(s)) * unsafe.Sizeof(*new(T)) }
