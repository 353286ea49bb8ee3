package check

import "sync"

// A Quarantine is where blocks that came back wait, in the order in which they came,
// before the pool may hand them out again: so what is written late is seen. All
// methods may be called by any number of goroutines at once.
type Quarantine struct {
	Bytes int // that it holds at most, in up to 256 blocks

	mu     sync.Mutex
	blocks [][]byte
	bytes  int
	ended  bool
}

// QuarantineBlocks bounds the blocks in quarantine.
const QuarantineBlocks = 256

// Add puts a block into quarantine, unless it is too large or the quarantine has ended.
// Blocks that have been there for long may have to Leave then.
func (q *Quarantine) Add(block []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || len(block) > q.Bytes {
		return false
	}
	q.blocks = append(q.blocks, block)
	q.bytes += len(block)
	return true
}

// Leave returns the block that has been there for longest, where there are more than
// the quarantine holds, or nil.
func (q *Quarantine) Leave() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) <= QuarantineBlocks && q.bytes <= q.Bytes {
		return nil
	}
	return q.first()
}

// Len returns how many blocks there are.
func (q *Quarantine) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.blocks)
}

// Next returns the block that has been there for longest, or nil.
func (q *Quarantine) Next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) == 0 {
		return nil
	}
	return q.first()
}

func (q *Quarantine) first() []byte {
	block := q.blocks[0]
	q.blocks[0] = nil
	q.blocks = q.blocks[1:]
	q.bytes -= len(block)
	return block
}

// Empty returns every block. With end, none is taken any more.
func (q *Quarantine) Empty(end bool) (blocks [][]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	blocks, q.blocks, q.bytes = q.blocks, nil, 0
	q.ended = q.ended || end
	return blocks
}
