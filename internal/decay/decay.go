// Package decay frees what has been idle for long. A [Class] says how much: it is pure
// arithmetic, without a clock. A [Decayer] does it for a pool, at the ticks of the process's [Ticker].
//
// What has not been needed for a whole timeout is surplus. It is freed along a smooth curve over
// most of one more. The rest of that is for what processors have for themselves, which is seen when it has been
// gathered: so that all is gone after two timeouts.
//
//   - The surplus is the least number of blocks that were idle at any moment of the last
//     timeout: the working set of Bonwick and Adams in "Magazines and Vmem"
//     (https://www.usenix.org/legacy/event/usenix01/full_papers/bonwick/bonwick_html/). A
//     program that repeats what it did in that time does not need them. So a burst that comes
//     back before the timeout is over costs no miss.
//   - The curve is jemalloc's: each amount that becomes surplus is a backlog entry, of which a
//     share of 6x^5 - 15x^4 + 10x^3 may stay, where x falls from 1 to 0. It begins and ends
//     gently, so that no sudden drop makes all callers miss at once.
package decay

import (
	"math"
	"time"
)

const (
	// Epochs is the number of steps of a timeout.
	Epochs = 32
	// fade is the number of steps of the curve.
	fade = Epochs - Epochs/8 - 2
)

// A Class is the history of one class of blocks. The zero Class has seen no idle blocks yet.
type Class struct {
	lows    [Epochs]int // the least number idle in each of the last epochs
	backlog [Epochs]int // what became surplus in each epoch
	newest  int         // index of the last epoch
	surplus int         // the least of lows
}

// Advance ends that many epochs, in which at least low blocks were idle at any moment, and
// returns how many blocks to free now. It assumes that the caller frees them.
func (c *Class) Advance(epochs, low int) (release int) {
	for range min(epochs, Epochs) {
		c.newest = (c.newest + 1) % Epochs
		c.lows[c.newest] = low
		c.backlog[c.newest] = 0
	}
	if epochs <= 0 {
		c.lows[c.newest] = min(c.lows[c.newest], low)
	}
	surplus := c.lows[0]
	for _, l := range c.lows {
		surplus = min(surplus, l)
	}
	c.backlog[c.newest] += max(0, surplus-c.surplus)
	release = max(0, surplus-c.may())
	c.surplus = surplus - release
	for i := range c.lows {
		c.lows[i] -= release
	}
	return release
}

// Unneeded returns for how many of the last epochs, without a gap up to now, something was
// idle that is still there. What is handed out is the youngest and what is freed the oldest,
// so that is the age of the oldest, in epochs.
func (c *Class) Unneeded() (epochs int) {
	for epochs < Epochs && c.lows[(c.newest-epochs+Epochs)%Epochs] > 0 {
		epochs++
	}
	return epochs
}

// may returns how many surplus blocks may stay.
func (c *Class) may() int {
	sum := 0.0
	for age := range fade {
		entry := c.backlog[(c.newest-age+Epochs)%Epochs]
		sum += float64(entry) * smooth(1-float64(age)/fade)
	}
	return int(math.Ceil(sum))
}

// smooth rises from 0 to 1 with x; its slope is 0 at both ends.
func smooth(x float64) float64 { return x * x * x * (x*(6*x-15) + 10) }

// Epoch returns the length of an epoch for a timeout.
func Epoch(timeout time.Duration) time.Duration { return max(1, timeout/Epochs) }

// Elapsed returns how many whole epochs a clock has advanced, and the rest. A clock that was set
// back has not advanced. More than a timeout counts as one timeout, because everything idle for
// that long is surplus.
func Elapsed(moved, epoch time.Duration) (epochs int, rest time.Duration) {
	switch {
	case moved < 0:
		return 0, 0
	case moved/epoch > Epochs:
		return Epochs, 0
	}
	return int(moved / epoch), moved % epoch
}
