package learn

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A Bodies is the class that holds most bodies of one kind. It rises when bodies outgrow
// it and falls slowly, so that about one body in 16 outgrows it, or none where all have
// one size.
type Bodies struct {
	classes *sizeclass.Table

	// learned has the class in bits 0-7, and above them how many bodies in a row have
	// outgrown theirs.
	learned atomic.Uint32
}

const (
	// falls is how many bodies that a smaller class would have held make the size fall
	// by one class, on average. One body that outgrows it makes it rise by one. So it is
	// as likely to rise as to fall where one body in falls+1 outgrows it.
	falls = 15
	// longestRun is after how many bodies in a row that outgrow it the size rises no
	// faster. Each of them doubles the step.
	longestRun = 6
)

// Init sets the classes, and the class to that for Least bytes.
func (b *Bodies) Init(classes *sizeclass.Table) {
	b.classes = classes
	b.learned.Store(uint32(b.class(Least)))
}

// class returns the class for n bytes, or the largest one.
func (b *Bodies) class(n int) uint8 {
	if class, ok := b.classes.Index(n); ok {
		return class
	}
	return uint8(b.classes.Len() - 1)
}

// Class returns the class that fits now.
func (b *Bodies) Class() uint8 { return uint8(b.learned.Load()) }

// Size returns the size of that class, in bytes.
func (b *Bodies) Size() int { return b.classes.Size(b.Class()) }

// Learn adapts the class to a body of n bytes. A body that comes while another goroutine
// adapts it teaches nothing, and neither does an empty one.
func (b *Bodies) Learn(n int) {
	was := b.learned.Load()
	class, run := uint8(was), was>>8
	next := uint32(class)
	switch {
	case n == 0:
		return
	case n > b.classes.Size(class):
		next = min(next+1<<run, uint32(b.class(n))) | min(run+1, longestRun)<<8
	case class > 0 && n <= b.classes.Size(class-1) && rand.IntN(falls) == 0:
		next--
	}
	if next != was {
		b.learned.CompareAndSwap(was, next)
	}
}
