package pressure

import (
	"math"
	"testing"
	"time"
)

func TestReadingLevel(t *testing.T) {
	up := func(f float64) float64 { return math.Nextafter(f, 2) }
	down := func(f float64) float64 { return math.Nextafter(f, 0) }
	for _, tt := range []struct {
		name string
		r    Reading
		want Level
	}{
		{"nothing", Reading{}, Low},
		{"just below medium", Reading{Go: down(0.70), Group: down(0.70)}, Low},
		{"Go at medium", Reading{Go: 0.70}, Medium},
		{"group at medium", Reading{Group: 0.70}, Medium},
		{"just below high", Reading{Go: down(0.90), Group: 0.1}, Medium},
		{"Go at high", Reading{Go: 0.90, Group: 0.1}, High},
		{"group at high", Reading{Go: 0.1, Group: 0.90}, High},
		{"past the limit", Reading{Go: 1.5}, High},
		{"some at 5 %", Reading{Some: 0.05}, Low},
		{"some over 5 %", Reading{Some: up(0.05)}, Medium},
		{"some, all the time", Reading{Some: 1}, Medium},
		{"full at 5 %", Reading{Some: 0.05, Full: 0.05}, Low},
		{"full over 5 %", Reading{Some: 0.06, Full: up(0.05)}, High},
		{"some does not lower what use says", Reading{Go: 0.95, Some: 0.06}, High},
		{"the collector held back", Reading{GCLimited: true}, High},
	} {
		if got := tt.r.Level(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	// The thresholds as a division of bytes yields them.
	for _, tt := range []struct {
		used, limit float64
		want        Level
	}{
		{70, 100, Medium}, {69, 100, Low}, {90, 100, High}, {89, 100, Medium},
		{7 << 20, 10 << 20, Medium}, {9 << 30, 10 << 30, High}, {0, 0, High},
	} {
		if got := (Reading{Go: share(tt.used, tt.limit)}).Level(); got != tt.want {
			t.Errorf("%v of %v bytes: %v, want %v", tt.used, tt.limit, got, tt.want)
		}
	}
}

// A step is a reading so many seconds after the start, and the level after it.
type step struct {
	at   float64
	r    Reading
	want Level
}

func use(u float64) Reading { return Reading{Go: u} }

func TestHysteresis(t *testing.T) {
	justBelow := math.Nextafter(0.85, 0)
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"begins low", []step{{0, use(0.69), Low}}},
		{"a rise acts at once", []step{{0, use(0.1), Low}, {1, use(0.70), Medium}, {2, use(0.90), High}}},
		{"a rise may skip a level", []step{{0, use(0.1), Low}, {1, use(0.95), High}}},
		{"a rise right after a fall acts at once", []step{
			{0, use(0.95), High}, {9, use(0.1), High}, {10, use(0.1), Medium}, {10.1, use(0.95), High}}},
		{"10 s from a rise to a fall", []step{
			{1.22, use(0.95), High}, {1.43, use(0), High}, {1.63, use(0), High}, {11.219, use(0), High}, {11.22, use(0), Medium}}},
		{"10 s from the last of two rises", []step{
			{0, use(0.75), Medium}, {8, use(0.95), High}, {9, use(0), High}, {10, use(0), High}, {17.999, use(0), High}, {18, use(0), Medium}}},
		{"10 s from a rise after a fall", []step{
			{0, use(0.95), High}, {9, use(0), High}, {10, use(0), Medium}, {15, use(0.95), High}, {24, use(0), High}, {25, use(0), Medium}}},
		{"a fall needs two readings", []step{{0, use(0.95), High}, {20, use(0.8), High}, {21, use(0.8), Medium}}},
		{"two readings in a row", []step{
			{0, use(0.95), High}, {11, use(0.8), High}, {12, use(0.87), High}, {13, use(0.8), High}, {14, use(0.8), Medium}}},
		{"at 0.85 high stays", []step{{0, use(0.90), High}, {11, use(0.85), High}, {12, use(0.85), High}, {99, use(0.85), High}}},
		{"below 0.85 it does not", []step{{0, use(0.90), High}, {11, use(justBelow), High}, {12, use(justBelow), Medium}}},
		{"at 0.65 medium stays", []step{{0, use(0.70), Medium}, {11, use(0.65), Medium}, {12, use(0.65), Medium}}},
		{"below 0.65 it does not", []step{{0, use(0.70), Medium}, {11, use(0.64), Medium}, {12, use(0.64), Low}}},
		{"falls one level at a time, 10 s apart", []step{
			{0, use(0.95), High}, {11, use(0), High}, {12, use(0), Medium}, {13, use(0), Medium},
			{21.999, use(0), Medium}, {22, use(0), Low}, {99, use(0), Low}}},
		{"after 10 s it still needs two readings in a row", []step{
			{0, use(0.95), High}, {11, use(0), High}, {12, use(0), Medium}, {21, use(0.66), Medium},
			{23, use(0), Medium}, {24, use(0), Low}}},
		{"the readings of one level do not count for the next", []step{
			{0, use(0.95), High}, {11, use(0), High}, {12, use(0), Medium}, {50, use(0), Medium}, {51, use(0), Low}}},
		{"stalls rise at once, fall like use", []step{
			{0, Reading{Some: 0.06}, Medium}, {1, Reading{Full: 0.06}, High}, {10, Reading{Some: 0.06}, High}, {11, Reading{Some: 0.06}, Medium},
			{12, Reading{}, Medium}, {21, Reading{}, Low}}},
		{"stalls go on, use is low", []step{
			{0, Reading{Full: 0.06}, High}, {1, Reading{Full: 0.06}, High}, {20, Reading{Full: 0.06}, High}}},
		{"some stalls go on, use is low", []step{
			{0, Reading{Some: 0.06}, Medium}, {1, Reading{Some: 0.06}, Medium}, {20, Reading{Some: 0.06}, Medium}}},
		{"stalls have ended, use is high", []step{{0, Reading{Go: 0.86, Full: 0.06}, High}, {11, use(0.86), High}, {12, use(0.86), High}}},
		{"the collector held back once", []step{
			{0, Reading{GCLimited: true}, High}, {9, Reading{}, High}, {10, Reading{}, Medium}}},
		{"no number is no reason to fall", []step{{0, use(0.95), High}, {11, use(math.NaN()), High}, {12, use(math.NaN()), High}}},
		{"two readings at once", []step{{0, use(0.95), High}, {10, use(0), High}, {10, use(0), Medium}}},

		{"the clock is set back a day: 10 s from there", []step{
			{0, use(0.95), High}, {9, use(0), High}, {10, use(0), Medium},
			{-86400, use(0), Medium}, {-86391, use(0), Medium}, {-86390, use(0), Low}}},
		{"back after a rise: 10 s from there", []step{
			{0, use(0.95), High}, {-86400, use(0), High}, {-86391, use(0), High}, {-86390, use(0), Medium}}},
		{"the clock is set forward an hour", []step{
			{0, use(0.95), High}, {9, use(0), High}, {10, use(0), Medium}, {11, use(0), Medium},
			{3600, use(0), Low}}},
		{"forward and back again", []step{
			{0, use(0.95), High}, {1, use(0), High}, {3600, use(0), Medium},
			{2, use(0), Medium}, {11, use(0), Medium}, {12, use(0), Low}}},
		{"back: a rise still acts at once", []step{{0, use(0.75), Medium}, {-3600, use(0.95), High}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h Hysteresis
			for i, s := range tt.steps {
				now := start.Add(time.Duration(s.at * float64(time.Second)))
				if got := h.Next(s.r, now); got != s.want {
					t.Fatalf("step %d, %v s: %v, want %v", i, s.at, got, s.want)
				}
			}
		})
	}
}

// TestSawtooth applies a load that goes up and down, as a heap does between
// collections, with all periods and ranges: the level is never below the reading's, and
// falls at the earliest 10 s after it rose or fell.
func TestSawtooth(t *testing.T) {
	const tick = 250 * time.Millisecond
	for _, period := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 7 * time.Second, 10 * time.Second, 25 * time.Second} {
		for _, low := range []float64{0.05, 0.60, 0.64, 0.66, 0.80, 0.84, 0.86} {
			for _, high := range []float64{0.69, 0.71, 0.89, 0.91, 1.2} {
				if low >= high {
					continue
				}
				var h Hysteresis
				before, falls, moved := Low, 0, time.Time{}
				for i := range 4 * 60 * 10 {
					elapsed := time.Duration(i) * tick
					phase := float64(elapsed%period) / float64(period)
					r, now := use(low+(high-low)*phase), start.Add(elapsed)
					level := h.Next(r, now)
					if level < r.Level() {
						t.Fatalf("%v, %v to %v, after %v: %v, but the reading is %v", period, low, high, elapsed, level, r.Level())
					}
					if level < before {
						if before-level != 1 {
							t.Fatalf("fell from %v to %v", before, level)
						}
						if last := now.Sub(moved); last < 10*time.Second {
							t.Fatalf("%v, %v to %v: %v lasted %v", period, low, high, before, last)
						}
						falls++
					}
					if level != before {
						before, moved = level, now
					}
				}
				if low < 0.60 && high > 0.9 && period > 2*time.Second && falls < 10 {
					t.Errorf("%v, %v to %v: %d falls in 10 minutes: the test sees none to space out", period, low, high, falls)
				}
			}
		}
	}
}

func TestLevelString(t *testing.T) {
	for level, want := range map[Level]string{Low: "low", Medium: "medium", High: "high"} {
		if got := level.String(); got != want {
			t.Errorf("%d is %q, want %q", level, got, want)
		}
	}
}
