// Package memstats reads the last lines of /debug/pprof/heap?debug=1, in which every Go program that
// serves net/http/pprof says how much it has allocated and how often it has collected.
package memstats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stats is the part of [runtime.MemStats] that is used, as that has it. Bytes are of the heap
// unless the name says otherwise.
type Stats struct {
	TotalAlloc, Mallocs               uint64 // since the start of the program
	HeapAlloc, HeapIdle, HeapReleased uint64
	Sys                               uint64 // of all that the runtime has from the system
	StackInuse                        uint64
	NextGC                            uint64    // the goal
	LastGC                            time.Time // the zero time if there was none
	NumGC, NumForcedGC                uint64
	GCCPUFraction                     float64 // of GOMAXPROCS times the time since the start, without idle-time work
	OldestGC                          time.Time
}

// ErrNone means that a text is not of heap?debug=1, or was cut off before its last lines.
var ErrNone = errors.New("no runtime.MemStats in it: give what /debug/pprof/heap?debug=1 answers, whole")

// Prefix is how the text of heap?debug=1 begins.
const Prefix = "heap profile: "

// mostLine is longer than any line: PauseEnd has 256 numbers of 19 digits.
const mostLine = 1 << 20

// Read reads the text of heap?debug=1, of which it holds one line at a time.
func Read(r io.Reader) (*Stats, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	var s Stats
	begun, seen := false, 0
	for lines.Scan() {
		line := lines.Text()
		if line == "# runtime.MemStats" {
			begun = true
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
		if !begun || !ok {
			continue
		}
		known, err := s.set(name, value)
		if err != nil {
			return nil, fmt.Errorf("%s of runtime.MemStats: %w", name, err)
		}
		if known {
			seen++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if seen < fields {
		return nil, ErrNone
	}
	return &s, nil
}

// fields is how many lines set knows.
const fields = 13

// set notes a line, and reports whether it is one of those that are used.
func (s *Stats) set(name, value string) (known bool, err error) {
	var last uint64
	to := map[string]*uint64{
		"TotalAlloc": &s.TotalAlloc, "Mallocs": &s.Mallocs, "HeapAlloc": &s.HeapAlloc, "HeapIdle": &s.HeapIdle, "HeapReleased": &s.HeapReleased,
		"Sys": &s.Sys, "Stack": &s.StackInuse, "NextGC": &s.NextGC, "LastGC": &last, "NumGC": &s.NumGC, "NumForcedGC": &s.NumForcedGC,
	}[name]
	switch {
	case to != nil:
		value, _, _ = strings.Cut(value, " / ") // of a stack: in use / from the system
		if *to, err = strconv.ParseUint(value, 10, 64); err != nil {
			return false, errNumber(value)
		}
		if last > 0 {
			s.LastGC = time.Unix(0, int64(last))
		}
	case name == "GCCPUFraction":
		if s.GCCPUFraction, err = strconv.ParseFloat(value, 64); err != nil || !(s.GCCPUFraction >= 0 && s.GCCPUFraction <= 1) {
			return false, errNumber(value)
		}
	case name == "PauseEnd":
		ends := strings.Fields(strings.Trim(value, "[]"))
		ends = slices.DeleteFunc(ends, func(end string) bool { return end == "0" })
		for _, end := range ends {
			n, err := strconv.ParseUint(end, 10, 64)
			if err != nil {
				return false, errNumber(end)
			}
			if at := time.Unix(0, int64(n)); s.OldestGC.IsZero() || at.Before(s.OldestGC) {
				s.OldestGC = at
			}
		}
	default:
		return false, nil
	}
	return true, nil
}

func errNumber(text string) error { return fmt.Errorf("%.40q is no such number", text) }

// Outside returns the bytes that count towards a memory limit besides the heap's objects and its
// free memory: stacks, the runtime's own, what is lost between objects.
func (s *Stats) Outside() float64 {
	return max(0, float64(s.Sys)-float64(s.HeapIdle)-float64(s.HeapAlloc))
}
