package bubble

import (
	"fmt"
	"time"
)

// Sleepers are the goroutines that wait for a pool, or for any of the pools that share a
// Budget. The lock of the lists that they are in guards them.
type Sleepers struct {
	Others string // what else than the pool they may wait for, in the text of a panic

	n      int
	bubble uint64 // in which they all wait; 0: in none
}

// Admit counts one more that waits, in a bubble or with 0 in none. It returns false if
// others wait elsewhere.
func (s *Sleepers) Admit(bubble uint64) bool {
	if s.n > 0 && s.bubble != bubble {
		return false
	}
	s.n++
	s.bubble = bubble
	return true
}

// Leave counts one less.
func (s *Sleepers) Leave() { s.n-- }

// Bubble returns the bubble that the last ones waited in, or 0.
func (s *Sleepers) Bubble() uint64 { return s.bubble }

// InReach reports whether the caller can wake them. Those in no bubble can be woken from
// anywhere.
func (s *Sleepers) InReach() bool {
	return s.n == 0 || s.bubble == 0 || s.bubble == Of(time.Now())
}

// Sharing reports whether their clock is the caller's. There are some.
func (s *Sleepers) Sharing() bool { return s.bubble == Of(time.Now()) }

// Apart is what a call panics with that they keep from its work on a pool.
func (s *Sleepers) Apart(pool string) string {
	if s.bubble == 0 {
		return fmt.Sprintf("dewpond: a wait for pool %q in a testing/synctest bubble, while others wait for it%s outside of the bubble, "+
			"from where nobody could end this one: make a pool in each bubble, see package dewtest", pool, s.Others)
	}
	return fmt.Sprintf("dewpond: pool %q is used outside of the testing/synctest bubble in which somebody waits for it%s: "+
		"only that bubble can end the wait, so until then the pool is its alone; make a pool in each bubble, see package dewtest", pool, s.Others)
}
