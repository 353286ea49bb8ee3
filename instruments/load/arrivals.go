package load

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"time"
)

// The bounds of what [Arrivals] may ask for.
const (
	mostRate     = 1e6
	mostUsers    = 1_000_000
	mostDuration = 24 * time.Hour
)

// Arrivals say when sessions begin. All times are fixed by the fields alone, before the first
// arrival.
type Arrivals struct {
	// Rate is sessions a second: more than 0, at most 1e6. Closed mode has none.
	Rate float64
	// Process is [Constant] or [Poisson]. The zero value is Constant.
	Process Process
	// Warmup is how long sessions begin that are not measured. They count nowhere.
	Warmup time.Duration
	// Duration is how long sessions begin that are measured.
	Duration time.Duration
	// Stages, if there are any, are in the place of Rate and Duration: a rate that changes. They begin
	// after the warm-up, which has the rate of their beginning.
	Stages []Stage
	// Seed gives the arrival times, and what each session draws: data, thinking, protocol.
	Seed uint64
	// Users, if it is not 0, is closed mode: so many users, each of whom begins a session when
	// the one before has ended, at most a million. Then the target sets the rate, as with wrk, and the tail hides
	// what a stalling target does to users.
	Users int
}

// A Process is how arrivals are spread over time.
type Process string

const (
	// Constant arrivals have the same time between any two.
	Constant Process = "constant"
	// Poisson arrivals are independent of each other, as those of many users are.
	Poisson Process = "poisson"
)

// Times yields the time of each arrival since the start, warm-up included, in order. It yields
// the same times each time.
func (a Arrivals) Times() iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		end := a.Warmup + a.Length()
		gaps := rand.New(rand.NewPCG(a.Seed, arrivalStream))
		left := a.course()
		due := 0.0 // sessions, by the rate until then
		for i := 0; ; i++ {
			if a.Process == Poisson {
				due += gaps.ExpFloat64()
			} else {
				due = float64(i)
			}
			var t time.Duration
			if t, left = left.when(due); left == nil || t >= end || !yield(i, t) {
				return
			}
		}
	}
}

// arrivalStream and sessionStream keep the random numbers of arrivals apart from those of
// sessions: both come from one seed.
const (
	arrivalStream = 1 << 63
	sessionStream = 0 // and the number of the session
)

// Digest returns a hash of all times: two plans with the same digest have the same arrivals.
// It is the FNV-1a hash of the times in nanoseconds.
func (a Arrivals) Digest() string {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for _, t := range a.Times() {
		for shift := 0; shift < 64; shift += 8 {
			hash ^= uint64(t) >> shift & 0xff
			hash *= prime
		}
	}
	return fmt.Sprintf("%016x", hash)
}

func (a Arrivals) validate() error {
	validate := a.validateRate
	if len(a.Stages) > 0 {
		validate = a.validateStages
	}
	if err := validate(); err != nil {
		return err
	}
	switch {
	case a.Process != "" && a.Process != Constant && a.Process != Poisson:
		return at("arrivals.process", "%q is no process: give %s or %s", a.Process, Constant, Poisson)
	case a.Warmup < 0 || a.Warmup > mostDuration:
		return at("arrivals.warmup", "a warm-up of %v: give 0s to %v", a.Warmup, mostDuration)
	}
	return nil
}

func (a Arrivals) validateRate() error {
	switch {
	case a.Users < 0 || a.Users > mostUsers:
		return at("arrivals.users", "%d users: give 1 to %d", a.Users, mostUsers)
	case a.Users == 0 && !(a.Rate > 0 && a.Rate <= mostRate):
		return at("arrivals.rate", "a rate of %s: give sessions a second, more than 0 and at most %.0f", strconv.FormatFloat(a.Rate, 'f', -1, 64), mostRate)
	case a.Duration <= 0 || a.Duration > mostDuration:
		return at("arrivals.duration", "a duration of %v: give more than 0s and at most %v", a.Duration, mostDuration)
	}
	return nil
}
