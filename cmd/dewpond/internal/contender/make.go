package contender

import "github.com/dewpond/dewpond/instruments/kit/palette"

var plainMake = Contender{
	Name:  "make",
	Hue:   palette.Ochre,
	About: "make([]byte, n) each time, left to the garbage collector; new memory is zero, so Put clears nothing",
	New:   func(Options) Pool { return makePool{} },

	Allocs: 1,
}

type makePool struct{}

func (makePool) View() View { return makePool{} }

func (makePool) Get(n int) Block { return Block{Bytes: make([]byte, n)} }
func (makePool) Put(Block)       {}

// escaped keeps Loop's blocks off the stack.
//
//go:noinline
func escaped(n int) []byte { return make([]byte, n) }

func (makePool) Loop(n, count int) {
	for range count {
		touch(escaped(n))
	}
}
