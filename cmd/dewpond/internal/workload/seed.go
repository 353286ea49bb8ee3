package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// A misdeed is a kind of misuse, by the name that its figures begin with.
type misdeed string

const (
	doublePut     misdeed = "double_put"
	writeAfterPut misdeed = "write_after_put"
	readAfterPut  misdeed = "read_after_put"
)

var misdeeds = []misdeed{doublePut, writeAfterPut, readAfterPut}

// A seed is one misuse.
type seed struct {
	misdeed misdeed
	mark    string // what a write writes; no other seed has it
	block   contender.Block
	found   bool
}

// A step is one of the two steps of a seed: its Put, or later what is then misuse.
type step struct {
	*seed
	at   time.Duration
	late bool
}

// sow returns the steps of all seeds in the order of time, at random moments of a stretch.
func sow(seeds int, stretch, late time.Duration, random *rand.Rand) []step {
	var steps []step
	for i := range seeds {
		for _, m := range misdeeds {
			s := &seed{misdeed: m, mark: fmt.Sprintf("%c%07d", m[0], i)}
			at := time.Duration(random.Float64() * float64(max(0, stretch-late)))
			steps = append(steps, step{s, at, false}, step{s, at + time.Duration(random.Float64()*float64(late)), true})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	return steps
}

// use gets a block, writes it and puts it back.
func (s *seed) use(view contender.View, size int) {
	s.block = view.Get(size)
	Marked{s.block, 1 << 62}.Write()
	view.Put(s.block)
}

// misuse does what must not be done with a block that was put back. Off the heap a read or a write
// faults: dewpond reports it, and this recovers it.
func (s *seed) misuse(view contender.View) {
	defer func() {
		if r := recover(); r != nil {
			if _, fault := r.(misuse.Violation); !fault {
				panic(r)
			}
		}
	}()
	defer offheap.ExplainFaults()()
	switch s.misdeed {
	case doublePut:
		view.Put(s.block)
	case writeAfterPut:
		copy(s.block.Bytes, s.mark)
	case readAfterPut:
		read.Store(uint32(s.block.Bytes[0]))
	}
}

// read keeps a read from being optimized away.
var read atomic.Uint32
