package target

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// An Interval is a stretch of time, since some moment that all intervals share.
type Interval struct {
	From, To time.Duration
}

// An Explanation is how much of some requests coincides with phases, beyond chance.
type Explanation struct {
	Requests int
	Observed float64 // the share of the requests that overlap a phase
	Chance   float64 // the share that would, were the phases at any other time
	// Explained is (Observed - Chance) / (1 - Chance). Low and High are its 95 % interval.
	Explained, Low, High float64
	// CannotTell says why there is no answer. It is empty if there is one.
	CannotTell string
}

// How an explanation is found.
const (
	shifts      = 1000 // of the phases, for chance
	resamples   = 1000 // of the blocks, for the interval
	blocks      = 20   // of time, for what happens close together is not independent
	fewest      = 10   // requests
	mostChance  = 0.8
	explainSeed = 1
)

// Explain says how much of the requests coincides with the phases. Chance is what the same requests
// overlap where the phases are turned round the window, so that a long request is not blamed for
// being long. It gives the same answer each time.
func Explain(requests, phases []Interval, window Interval) Explanation {
	e := Explanation{Requests: len(requests)}
	length := window.To - window.From
	switch {
	case len(requests) < fewest:
		e.CannotTell = "fewer than ten requests"
		return e
	case length <= 0:
		e.CannotTell = "the trace has no time"
		return e
	}
	phases = union(phases)
	circle := round(phases, window)
	random := rand.New(rand.NewPCG(explainSeed, 0))
	turns := make([]time.Duration, shifts)
	for i := range turns {
		turns[i] = time.Duration(random.Int64N(int64(length)))
	}
	var tally [blocks]block
	for _, r := range requests {
		at := int(int64(r.From-window.From) * blocks / int64(length))
		b := &tally[min(max(at, 0), blocks-1)]
		b.requests++
		if overlaps(phases, r) {
			b.observed++
		}
		hit := 0
		for _, turn := range turns {
			from := (r.From - window.From + turn) % length
			if from < 0 {
				from += length
			}
			if overlaps(circle, Interval{from, from + min(r.To-r.From, length)}) {
				hit++
			}
		}
		b.chance += float64(hit) / shifts
	}
	all := sum(tally[:])
	e.Observed, e.Chance = all.observed/all.requests, all.chance/all.requests
	if e.Chance > mostChance {
		e.CannotTell = "by chance alone more than 80 % of the requests would overlap a phase"
		return e
	}
	e.Explained = all.explained()
	e.Low, e.High = spread(tally[:], random)
	low, high := binomial(all)
	e.Low, e.High = min(e.Low, low), max(e.High, high)
	return e
}

// A block is the requests that began in a part of the window.
type block struct{ requests, observed, chance float64 }

func sum(blocks []block) (all block) {
	for _, b := range blocks {
		all.requests += b.requests
		all.observed += b.observed
		all.chance += b.chance
	}
	return all
}

// explained returns the share, which is not less than nothing.
func (b block) explained() float64 {
	o, e := b.observed/b.requests, b.chance/b.requests
	if e >= 1 {
		return 0
	}
	return max(0, (o-e)/(1-e))
}

// spread draws blocks again and again, and returns where 95 % of the answers are.
func spread(from []block, random *rand.Rand) (low, high float64) {
	from = slices.DeleteFunc(slices.Clone(from), func(b block) bool { return b.requests == 0 })
	answers := make([]float64, resamples)
	drawn := make([]block, len(from))
	for i := range answers {
		for k := range drawn {
			drawn[k] = from[random.IntN(len(from))]
		}
		answers[i] = sum(drawn).explained()
	}
	slices.Sort(answers)
	const beyond = 0.025
	return answers[int(beyond*resamples)], answers[int((1-beyond)*resamples)-1]
}

// binomial returns the interval that independent requests would have: Wilson's, of what is observed.
// Blocks that all say the same, such as that no request of 14 overlaps a phase, have a spread of
// nothing, and are no proof of it.
func binomial(all block) (low, high float64) {
	const z = 1.96 // of 95 %
	n, p := all.requests, all.observed/all.requests
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n)) / (1 + z*z/n)
	of := func(observed float64) float64 { return block{n, n * observed, all.chance}.explained() }
	return of(middle - half), of(middle + half)
}

// union returns the intervals in order, those that touch as one.
func union(all []Interval) []Interval {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Interval) int { return int(a.From - b.From) })
	out := all[:0]
	for _, v := range all {
		if n := len(out); n > 0 && v.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, v.To)
			continue
		}
		out = append(out, v)
	}
	return out
}

// round returns the phases within the window, from 0, and the same behind it once more.
func round(phases []Interval, window Interval) []Interval {
	var once []Interval
	for _, p := range phases {
		from, to := max(p.From, window.From), min(p.To, window.To)
		if from < to {
			once = append(once, Interval{from - window.From, to - window.From})
		}
	}
	length := window.To - window.From
	for _, p := range slices.Clone(once) {
		once = append(once, Interval{p.From + length, p.To + length})
	}
	return union(once)
}

// overlaps reports whether one of the intervals, which are in order and apart, overlaps r.
func overlaps(in []Interval, r Interval) bool {
	i := sort.Search(len(in), func(i int) bool { return in[i].To > r.From })
	return i < len(in) && in[i].From < r.To
}
