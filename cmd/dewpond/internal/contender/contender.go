// Package contender holds the pools that the benchmark compares, each in a file
// of its own and each in the best form that its library allows.
//
// A driver works through a View, one for each goroutine, and the interface call
// costs every contender the same. Where a few nanoseconds matter (scenario
// micro) it calls View.Loop instead: each contender writes the same loop out
// with direct calls of its own methods. (A generic loop would not do: Go calls
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
)

// Largest is the largest block that a scenario may ask for: the largest class of
// dewpond's default table, which ring, channel and syncpool-class share.
const Largest = 1 << 20

// A Contender is one way to come by a block of bytes.
type Contender struct {
	Name  string
	About string             // one line; what a reader must know to judge its figures
	New   func(Options) Pool // makes an empty one
	// Variant says that it is dewpond once more, with other options: it takes part
	// where it is asked for, and in the scenarios that are about the difference.
	Variant bool
	// Tools makes what else the library is for, beside what each tool replaces;
	// nil where it is but a byte pool, or nobody here asks for more of it.
	Tools func() []tool.Case
}

// Options are what a scenario asks of every contender.
type Options struct {
	// Clearing: no byte of a block's last owner is readable by the next. The whole
	// block is cleared in Put, where About does not say otherwise.
	Clearing bool
	// IdleTimeout is dewpond's own, 0 its default. The others have none to set.
	IdleTimeout time.Duration
	// Budget is dewpond's own, and several pools may share one; nil: none.
	Budget *dewpond.Budget
}

// A Pool is a contender at work. It may also be an Idler, a Misser, an Enginer or a
// Keeper.
type Pool interface {
	// View is one goroutine's use of the pool; it must not be shared, and it may
	// go from one goroutine to another. Blocks may be got from one view and put
	// into another, except for nop's.
	View() View
}

// A View hands out blocks and takes them back.
type View interface {
	Get(n int) Block
	Put(b Block)
	// Loop does Get, a write to the first and the last byte, and Put, count times.
	Loop(n, count int)
}

// A Block is a slice of the length asked for, and the handle by which its
// contender knows it. A contender whose Get returns a pointer keeps that there:
// making a new one for Put would be an allocation of the adapter's.
type Block struct {
	Bytes  []byte
	handle any
}

// An Idler can tell how many bytes it holds ready, also while others use it.
type Idler interface{ IdleBytes() int64 }

// A Misser counts the Gets that had to allocate.
type Misser interface{ Misses() uint64 }

// A Keeper is a pool that has a life of its own and can account for it: its methods
// are those of dewpond.BytePool.
type Keeper interface {
	TryGet(n int) (b Block, ok bool)
	Trim() (released int64)
	Close() error
	// Held is what it has idle, in use, and as reserved address space, in bytes.
	Held() (idle, inUse, reserved int64)
}

// An Enginer names the engine that serves this build.
type Enginer interface{ Engine() string }

// All are the contenders in the order of the reports: the control, no pool, what
// one writes by hand, libraries, dewpond.
func All() []Contender {
	return []Contender{
		nop, plainMake, syncpoolMixed, syncpoolClass, treiber, ring, channel,
		mcacheContender, byteBufferPool, grpcMem, dewpondContender,
		dewpondNoDecay, dewpondOffHeap,
	}
}

// Usual are the names of those that take part where nobody says who shall.
func Usual() []string {
	var names []string
	for _, c := range All() {
		if !c.Variant {
			names = append(names, c.Name)
		}
	}
	return names
}

// Names are the names of All.
func Names() []string {
	var names []string
	for _, c := range All() {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the contenders of the names, each once, in the order of All.
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

// touch is what a Loop does with a block: enough that it must be there.
func touch(b []byte) {
	b[0] = 1
	b[len(b)-1] = 1
}
