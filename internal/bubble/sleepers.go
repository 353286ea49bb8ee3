package bubble

import (
	"fmt"
	"time"
)

// Sleepers counts the goroutines that wait for a pool, or for any of the pools that share a
// Budget. It is guarded by the lock of the lists that they are in.
type Sleepers struct {
	Others string // what they may wait for besides the pool, for the text of a panic

	n      int
	bubble uint64 // the bubble in which they all wait; 0: none
}

// Admit counts one more waiter, in a bubble or, with 0, in none. It returns false if others
// wait elsewhere.
func (s *Sleepers) Admit(bubble uint64) bool {
	if s.n > 0 && s.bubble != bubble {
		return false
	}
	s.n++
	s.bubble = bubble
	return true
}

// Leave counts one waiter less.
func (s *Sleepers) Leave() { s.n-- }

// Bubble returns the bubble of the current or last waiters, or 0.
func (s *Sleepers) Bubble() uint64 { return s.bubble }

// InReach reports whether the caller can wake the waiters. Waiters outside of bubbles can be
// woken from anywhere.
func (s *Sleepers) InReach() bool {
	return s.n == 0 || s.bubble == 0 || s.bubble == Of(time.Now())
}

// Gone reports whether the waiters' bubble has ended: they wait forever, and their lists must forget
// them. To find out takes a stack of every goroutine, so ask only instead of a panic.
func (s *Sleepers) Gone() bool { return s.n > 0 && s.bubble != 0 && ended(s.bubble) }

// Sharing reports whether the waiters' clock is the caller's. There must be waiters.
func (s *Sleepers) Sharing() bool { return s.bubble == Of(time.Now()) }

// Apart returns the text of the panic of a call that the waiters prevent from using a pool.
func (s *Sleepers) Apart(pool string) string {
	if s.bubble == 0 {
		return fmt.Sprintf("dewpond: a wait for pool %q in a testing/synctest bubble, while other goroutines wait for it%s outside of the bubble, "+
			"which could not end this wait: make a pool in each bubble, see package dewtest", pool, s.Others)
	}
	return fmt.Sprintf("dewpond: pool %q is used outside of the testing/synctest bubble in which a goroutine waits for it%s: "+
		"only that bubble can end the wait, so until then only the bubble may use the pool; make a pool in each bubble, see package dewtest", pool, s.Others)
}
