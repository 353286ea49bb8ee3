package check

import "sync"

// A Block is a block that is not kept by its Checker: where it begins, its class in its
// pool, and its bytes.
type Block struct {
	At    uintptr
	Class uint8
	Bytes []byte
}

// A Quarantine holds blocks that came back, in that order, before the pool may hand
// them out again, so that late writes are found. All methods are safe for concurrent
// use.
type Quarantine struct {
	Bytes int // the most bytes that it holds, in up to QuarantineBlocks blocks

	mu      sync.Mutex
	blocks  []Block
	bytes   int
	ended   bool
	crowded bool
}

// QuarantineBlocks is the most blocks that a Quarantine holds.
const QuarantineBlocks = 256

// Add adds a block, and reports whether it did: not if the block is too large or the
// quarantine has ended. It may leave more blocks than the quarantine holds: see Leave.
func (q *Quarantine) Add(b Block) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || len(b.Bytes) > q.Bytes {
		return false
	}
	q.blocks = append(q.blocks, b)
	q.bytes += len(b.Bytes)
	return true
}

// Leave removes the block that was added first, if there are more than the quarantine
// holds. ok reports whether there are.
func (q *Quarantine) Leave() (b Block, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) <= QuarantineBlocks && q.bytes <= q.Bytes {
		return Block{}, false
	}
	q.crowded = true
	return q.first(), true
}

// Crowded reports whether a block had to leave for another since the quarantine was last empty.
func (q *Quarantine) Crowded() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.crowded
}

// Len returns the number of blocks.
func (q *Quarantine) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.blocks)
}

// Next removes the block that was added first. ok reports whether there is one.
func (q *Quarantine) Next() (b Block, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) == 0 {
		return Block{}, false
	}
	return q.first(), true
}

func (q *Quarantine) first() Block {
	b := q.blocks[0]
	q.blocks[0] = Block{}
	q.blocks = q.blocks[1:]
	q.bytes -= len(b.Bytes)
	q.crowded = q.crowded && len(q.blocks) > 0
	return b
}

// Empty removes and returns every block. If end is true, Add accepts no more.
func (q *Quarantine) Empty(end bool) (blocks []Block) {
	q.mu.Lock()
	defer q.mu.Unlock()
	blocks, q.blocks, q.bytes, q.crowded = q.blocks, nil, 0, false
	q.ended = q.ended || end
	return blocks
}
