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

	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
)

// Largest is the largest block that a scenario may ask for: the largest class of
// dewpond's default table, which ring, channel and syncpool-class share.
const Largest = 1 << 20

// A Contender is one way to come by a block of bytes.
type Contender struct {
	Name  string
	About string // one line; what a reader must know to judge its figures
	// New makes an empty one. With clearing, no byte of a block's last owner is
	// readable by the next: the whole block is cleared in Put, where About does
	// not say otherwise.
	New func(clearing bool) Pool
	// Tools makes what else the library is for, beside what each tool replaces;
	// nil where it is but a byte pool, or nobody here asks for more of it.
	Tools func() []tool.Case
}

// A Pool is a contender at work. It may also be an Idler or an Enginer.
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

// An Idler can tell how many bytes it holds ready.
type Idler interface{ IdleBytes() int64 }

// An Enginer names the engine that serves this build.
type Enginer interface{ Engine() string }

// All are the contenders in the order of the reports: the control, no pool, what
// one writes by hand, libraries, dewpond.
func All() []Contender {
	return []Contender{
		nop, plainMake, syncpoolMixed, syncpoolClass, treiber, ring, channel,
		mcacheContender, byteBufferPool, grpcMem, dewpondContender,
	}
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
