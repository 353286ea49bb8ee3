package pressure

import "time"

// These constants keep a level from flapping. A pool that trims at each High and fills
// up in between would cost more than one that never trims.
const (
	margin       = 0.05             // how far below its threshold the use must fall for a level to end
	calmReadings = 2                // how many readings in a row must agree on that
	fallEvery    = 10 * time.Second // how long a level lasts at least before it falls
)

// A Hysteresis turns readings into levels. It rises at once, to the level of the
// reading, and falls slowly: one level at a time, and at the earliest fallEvery after
// it last rose or fell. It reads no clock. The zero Hysteresis is ready for use, at
// Low. It is not safe for concurrent use.
type Hysteresis struct {
	level Level
	calm  int       // when the level last rose or fell; zero: never
	moved time.Time // when the level rose or fell last; zero: not yet
}

// Next returns the level after a reading made at the time now.
func (h *Hysteresis) Next(r Reading, now time.Time) Level {
	if now.Before(h.moved) {
		h.moved = now // The clock was set back. Waiting for the old time could take forever.
	}
	if level := r.Level(); level > h.level {
		h.level, h.calm, h.moved = level, 0, now
	}
	if !r.below(h.level) {
		h.calm = 0
		return h.level
	}
	h.calm++
	if h.calm >= calmReadings && now.Sub(h.moved) >= fallEvery {
		h.level, h.calm, h.moved = h.level-1, 0, now
	}
	return h.level
}

// below reports whether a reading is low enough for the level to fall below l.
func (r Reading) below(l Level) bool {
	switch l {
	case High:
		return r.Level() < High && r.Use() < highAt-margin
	case Medium:
		return r.Level() < Medium && r.Use() < mediumAt-margin
	}
	return false
}
