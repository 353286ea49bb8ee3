package check

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A Mode says how much is watched.
type Mode uint8

const (
	Off Mode = iota
	Sampled
	All
)

// Environment is the environment variable that overrides the mode of every pool.
const Environment = "DEWPOND_CHECK"

// SampleEvery is the N of Sampled, which watches one in N, if nothing says another one.
const SampleEvery = 1024

// String returns off, sampled or all: the words of ParseMode.
func (m Mode) String() string {
	switch m {
	case Off:
		return "off"
	case Sampled:
		return "sampled"
	case All:
		return "all"
	}
	return fmt.Sprintf("CheckMode(%d)", uint8(m)) // as the public type is called
}

// ParseMode returns the mode that a value of Environment names, and N, which is a power of
// two, if one in N is watched. It returns Off and false if the value names none.
func ParseMode(text string) (mode Mode, every uint, ok bool) {
	switch text {
	case "off":
		return Off, SampleEvery, true
	case "all":
		return All, 1, true
	case "sampled":
		return Sampled, SampleEvery, true
	}
	if number, sampled := strings.CutPrefix(text, "sampled=1/"); sampled {
		if n, err := strconv.ParseUint(number, 10, 30); err == nil && n > 0 {
			return Sampled, 1 << bits.Len(uint(n-1)), true
		}
	}
	return Off, SampleEvery, false
}
