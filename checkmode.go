package dewpond

import (
	"fmt"
	"log/slog"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"sync"
)

// A CheckMode says how closely a pool watches what its callers do with what they get.
// The environment variable DEWPOND_CHECK (off, sampled, sampled=1/N or all; N is rounded
// up to a power of two) overrides every pool's. Any other value counts as off, so that a
// mistyped one slows no program down, and the log has an error, once, when the program
// starts.
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

// valid returns an error where the option Check is no mode.
func (m CheckMode) valid() error {
	if m > CheckAll {
		return fmt.Errorf("option Check %d: give CheckOff, CheckSampled or CheckAll", m)
	}
	return nil
}

// effective returns the mode that holds, and of how many one is watched: a power of
// two.
func (m CheckMode) effective() (mode CheckMode, every uint) {
	text := os.Getenv(checkEnvironment)
	if text == "" {
		return m, sampleEvery
	}
	mode, every, ok := parseMode(text)
	if !ok {
		unknownMode.Do(func() {
			slog.Error("dewpond: the environment's "+checkEnvironment+" is none of off, sampled, sampled=1/N and all: it counts as off", "value", text)
		})
	}
	return mode, every
}

// unknownMode is for the first value of the environment that is no mode.
var unknownMode = new(sync.Once)

func init() { CheckOff.effective() } // so that the log has it when the program starts

// parseMode is what the environment's text says, or CheckOff.
func parseMode(text string) (mode CheckMode, every uint, ok bool) {
	switch text {
	case "off":
		return CheckOff, sampleEvery, true
	case "all":
		return CheckAll, 1, true
	case "sampled":
		return CheckSampled, sampleEvery, true
	}
	if number, sampled := strings.CutPrefix(text, "sampled=1/"); sampled {
		if n, err := strconv.ParseUint(number, 10, 30); err == nil && n > 0 {
			return CheckSampled, 1 << bits.Len(uint(n-1)), true
		}
	}
	return CheckOff, sampleEvery, false
}
