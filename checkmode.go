package dewpond

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
)

// A CheckMode says how closely a pool watches what its callers do with what they get.
// The environment variable DEWPOND_CHECK (off, sampled, sampled=1/N or all) overrides
// every pool's.
type CheckMode uint8

const (
	// CheckOff finds what costs nothing to find: see docs/ownership.md.
	CheckOff CheckMode = iota
	// CheckSampled is CheckAll for one in 1024 of what is handed out, and for
	// nothing else: for production. What it finds, it finds soon where it happens
	// often: of a leak, 710 are needed for an even chance to see one, and 4714 for
	// 99 in 100.
	CheckSampled
	// CheckAll watches everything, at a cost of microseconds for each Get: for tests.
	// Whatever is misused is reported with the stacks of the Get, of the Put and of
	// the offence. Off the heap idle blocks fault on any touch: see ExplainFaults.
	CheckAll
)

// sampleEvery is what CheckSampled means where DEWPOND_CHECK gives no number.
const sampleEvery = 1024

// checkEnvironment is the variable that overrides the option Check.
const checkEnvironment = "DEWPOND_CHECK"

// effective returns the mode that holds, and of how many one is watched: a power of
// two.
func (m CheckMode) effective() (CheckMode, uint, error) {
	if m > CheckAll {
		return m, 0, fmt.Errorf("option Check %d: give CheckOff, CheckSampled or CheckAll", m)
	}
	text := os.Getenv(checkEnvironment)
	mode, number, _ := strings.Cut(text, "=")
	switch {
	case text == "":
		return m, sampleEvery, nil
	case text == "off":
		return CheckOff, sampleEvery, nil
	case text == "all":
		return CheckAll, 1, nil
	case text == "sampled":
		return CheckSampled, sampleEvery, nil
	case mode == "sampled":
		if n, err := strconv.ParseUint(strings.TrimPrefix(number, "1/"), 10, 30); err == nil && n > 0 && strings.HasPrefix(number, "1/") {
			return CheckSampled, 1 << bits.Len(uint(n-1)), nil
		}
	}
	return m, 0, fmt.Errorf("the environment's %s=%s: give off, sampled, sampled=1/N (N is rounded up to a power of two) or all", checkEnvironment, text)
}
