// Package contender holds the pools that the benchmark compares, each in a file of its own and
// in the best form that its library allows.
//
// A driver uses a [View] for each goroutine, and the interface call costs every contender the
// same. Scenario micro, where a few nanoseconds matter, calls View.Loop instead: each contender
// has the same loop with direct calls of its own methods. (A generic loop would not do: Go calls
// the methods of a type parameter through a dictionary.)
package contender

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
	"github.com/dewpond/dewpond/instruments/kit/palette"
	"github.com/dewpond/dewpond/misuse"
)

// Largest is the size of the largest block that a scenario may ask for: the largest class of
// dewpond's default table, which ring, channel and syncpool-class share.
const Largest = 1 << 20

// A Contender is one way to get a block of bytes.
type Contender struct {
	Name  string
	About string             // one line: what a reader must know to judge its figures
	New   func(Options) Pool // makes an empty pool
	// Hue is its colour in each drawing. Without one it has a hue that its name picks.
	Hue palette.Hue
	// Allocs is how many allocations a Get and its Put make where blocks lie idle.
	Allocs float64
	// MostIdle returns how many blocks of a size it keeps idle at most, without Options.Room. A
	// contender has it if its Pool is an [Idler].
	MostIdle func(size int) int
	// Variant means that it is another contender with other options, or in another shape. It
	// takes part if it is named, and in the scenarios that compare these.
	Variant bool
	// OneSize means that a pool's blocks are all of Options.Size.
	OneSize bool
	// Private means that a block must be put into the view that it was got from.
	Private bool
	// Tools returns the library's other tools, each beside what it replaces. It is nil if
	// the library has only a byte pool, or its other tools are not compared.
	Tools func() []tool.Case
}

// Options are what a scenario asks of every contender.
type Options struct {
	// Size is that of all blocks; 0 if they are of several sizes.
	Size int
	// Room is how many blocks of a size the scenario puts back at once, by size. A contender
	// whose user bounds it in blocks has room for as many; nil: none are known.
	Room map[int]int
	// Clearing: the next owner of a block can read no byte of the last one. Unless About
	// says otherwise, Put clears the whole block.
	Clearing bool
	// ZeroDefault is dewpond's: its default zeroing policy, also without Clearing.
	ZeroDefault bool
	// IdleTimeout is dewpond's; 0 is its default. The other contenders have none.
	IdleTimeout time.Duration
	// Budget is dewpond's, and several pools may share one; nil: none. syncpool-bounded takes
	// its limit, and the other contenders have no bound.
	Budget *dewpond.Budget
	// Check and OnViolation are dewpond's. The other contenders watch nothing.
	Check       dewpond.CheckMode
	OnViolation func(misuse.Violation)
}

// A Pool is a contender at work. It may also be an [Idler], a [Misser], an [Enginer], a [Refuser]
// or a [Keeper].
type Pool interface {
	// View returns one goroutine's use of the pool. One goroutine at a time may use it.
	// Blocks may be got from one view and put into another, unless the contender is Private.
	View() View
}

// A View hands out blocks and takes them back.
type View interface {
	Get(n int) Block
	Put(b Block)
	// Loop does Get, a write to the first and the last byte, and Put, count times.
	Loop(n, count int)
}

// A Block is a slice of the requested length, with the handle by which its contender knows it.
// A contender whose Get returns a pointer keeps the pointer there: to make a new one for Put
// would be an allocation of the adapter.
type Block struct {
	Bytes  []byte
	handle any
}

// An Idler reports how many bytes it keeps idle, also during use.
type Idler interface{ IdleBytes() int64 }

// A Misser counts the Gets that had to allocate.
type Misser interface{ Misses() uint64 }

// A Refuser is a pool that obeys Options.Budget: ok is false for what goes beyond. Its Get obeys
// nothing.
type Refuser interface {
	TryGet(n int) (b Block, ok bool)
}

// A Keeper is a pool that can be trimmed and closed, and can account for its memory. Its
// methods are those of dewpond.BytePool.
type Keeper interface {
	Refuser
	Trim() (released int64)
	Close() error
	// Held returns its bytes that are idle, in use, and reserved as address space.
	Held() (idle, inUse, reserved int64)
}

// An Enginer names the engine that serves this build.
type Enginer interface{ Engine() string }

// All returns the contenders in the order of the reports: the control, no pool, pools written
// by hand, libraries, dewpond.
func All() []Contender {
	return []Contender{
		nop, plainMake, syncpool, syncpoolMixed, syncpoolClass, syncpoolBounded, treiber, ring, channel,
		mcacheContender, byteBufferPool, bytePool, grpcMem, dewpondContender, dewsyncContender,
		dewpondNoDecay, dewpondOffHeap, dewpondSampled,
	}
}

// Usual returns the names of the contenders that take part by default.
func Usual() []string {
	var names []string
	for _, c := range All() {
		if !c.Variant {
			names = append(names, c.Name)
		}
	}
	return names
}

// Names returns the names of All.
func Names() []string {
	var names []string
	for _, c := range All() {
		names = append(names, c.Name)
	}
	return names
}

// HueOf returns the colour of the contender with a name.
func HueOf(name string) palette.Hue {
	for _, c := range All() {
		if c.Name == name && c.Hue != (palette.Hue{}) {
			return c.Hue
		}
	}
	return palette.Of(name)
}

// Find returns the contenders with these names, each once, in the order of All.
func Find(names []string) ([]Contender, error) {
	var found []Contender
	for _, c := range All() {
		if slices.Contains(names, c.Name) {
			found = append(found, c)
		}
	}
	var unknown []string
	for _, n := range names {
		if !slices.Contains(Names(), n) {
			unknown = append(unknown, strconv.Quote(n))
		}
	}
	if unknown != nil {
		return nil, fmt.Errorf("unknown contender %s: valid are %s", strings.Join(unknown, ", "), strings.Join(Names(), ", "))
	}
	return found, nil
}

// touch is what a Loop does with a block: enough that the compiler cannot remove the block.
func touch(b []byte) {
	b[0] = 1
	b[len(b)-1] = 1
}
