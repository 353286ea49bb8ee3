package main

import (
	"fmt"
	"math"
	"runtime/metrics"
	"strconv"

	"github.com/dewpond/dewpond/instruments/kit/amount"
)

// noLimit is the runtime's memory limit where there is none.
const noLimit = math.MaxInt64

// parseLimit reads a memory limit: bytes, with a unit or without, or off.
func parseLimit(text string) (int64, error) {
	if text == "off" {
		return noLimit, nil
	}
	n, err := amount.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%w, or off", err)
	}
	return n, enough(n)
}

// enough returns an error if a memory limit is below what the process has already: the collector
// would never rest.
func enough(limit int64) error {
	if has := total(); limit < has {
		return fmt.Errorf("a memory limit of %d is below the %d MiB that the process has already: give auto, off, or more bytes, such as %dMiB", limit, has>>20, max(64, 4*(has>>20)))
	}
	return nil
}

// total is what the process has of the system.
func total() int64 {
	return int64(read("/memory/classes/total:bytes") - read("/memory/classes/heap/released:bytes"))
}

func read(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// A setting is how the collector runs.
type setting struct {
	GOGC  int64  `json:"gogc"` // -1: none
	Limit string `json:"memory_limit"`
}

func collector() setting {
	s := setting{GOGC: int64(read("/gc/gogc:percent")), Limit: "off"}
	if limit := read("/gc/gomemlimit:bytes"); limit < noLimit {
		s.Limit = strconv.FormatUint(limit, 10)
	}
	return s
}
