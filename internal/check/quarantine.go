package check

import "sync"

// A Block is a block that somebody else than its Checker keeps: where it begins, its class
// in its pool, and itself.
type Block struct {
	At    uintptr
	Class uint8
	Bytes []byte
}

// A Quarantine is where blocks that came back wait, in the order in which they came,
// before the pool may hand them out again: so what is written late is seen. All
// methods may be called by any number of goroutines at once.
type Quarantine struct {
	Bytes int // the most bytes that it holds, in up to QuarantineBlocks blocks

	mu     sync.Mutex
	blocks []Block
	bytes  int
	ended  bool
}

// QuarantineBlocks is the most blocks that a Quarantine holds.
const QuarantineBlocks = 256

// Add puts a block into quarantine, unless it is too large or the quarantine has ended.
// Blocks that have been there for long may have to Leave then.
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

// Leave takes out the block that has been there for longest, where there are more than
// the quarantine holds.
func (q *Quarantine) Leave() (b Block, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) <= QuarantineBlocks && q.bytes <= q.Bytes {
		return Block{}, false
	}
	return q.first(), true
}

// Len returns the number of blocks.
func (q *Quarantine) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.blocks)
}

// Next takes out the block that has been there for longest, if there is any.
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
	return b
}

// Empty returns every block. With end, none is taken any more.
func (q *Quarantine) Empty(end bool) (blocks []Block) {
	q.mu.Lock()
	defer q.mu.Unlock()
	blocks, q.blocks, q.bytes = q.blocks, nil, 0
	q.ended = q.ended || end
	return blocks
}
