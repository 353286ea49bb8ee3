//go:build dewpond_delay

package magazine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// This file is for measuring. Built with -tags dewpond_delay, the engine takes 10
// microseconds longer at each seam that the environment variable DEWPOND_DELAY names,
// so that a benchmark shows in which percentile the seam is.

// delayed is how long a seam is made to take.
const delayed = 10 * time.Microsecond

// seamNames are the names that DEWPOND_DELAY accepts, separated by commas; "all" stands
// for every one of them.
var seamNames = [seams]string{
	seamRefill:     "refill",
	seamUnload:     "unload",
	seamPushDirect: "push-direct",
	seamPopDirect:  "pop-direct",
	seamReplace:    "replace",
	seamGrow:       "grow",
}

// delays is the number of turns that delay spins at each seam, 0 for none. It never
// changes: a binary built with this tag reads the variable once, before main.
var delays = parseDelays(os.Getenv("DEWPOND_DELAY"), calibrate)

// delay spins at a seam. It may run in a section, so it does not allocate, block or
// call out. It reads no clock either, which in a testing/synctest bubble would stand
// still for it. It counts turns whose pace was measured once, at the start, so it is as
// exact as the processor's clock is steady.
func delay(s seam) {
	if turns := delays[s]; turns > 0 {
		spin(turns)
	}
}

// spin runs a chain of multiplications, none of which can begin before the previous one
// has ended. It is not inlined: the compiler would drop a result that no caller uses.
//
//go:noinline
func spin(turns int) (x uint64) {
	for x = 1; turns > 0; turns-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// parseDelays reads a list of seams. It panics on an unknown name: a measurement must
// not go on without the delay that it is about.
func parseDelays(list string, calibrate func() int) (turns [seams]int) {
	if list == "" {
		return turns
	}
	n := calibrate()
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(seamNames[:], strings.TrimSpace(name))
		switch {
		case i >= 0:
			turns[i] = n
		case name == "all":
			for i := range turns {
				turns[i] = n
			}
		default:
			panic(fmt.Sprintf("dewpond: DEWPOND_DELAY=%s: no seam %q: give all, or any of %s", list, name, strings.Join(seamNames[:], ",")))
		}
	}
	return turns
}

// calibrate returns how many turns take as long as delayed. It uses the fastest of
// several tries, because other work on the machine slows down the rest.
func calibrate() int {
	const tries, turns = 20, 100_000
	fastest := time.Duration(1<<63 - 1)
	for range tries {
		began := time.Now()
		spin(turns)
		fastest = min(fastest, time.Since(began))
	}
	return int(turns * delayed / max(fastest, 1))
}
