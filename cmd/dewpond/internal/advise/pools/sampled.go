package pools

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// What a page says of a pool in checked mode, by the names of the metrics.
const (
	sampledOut   = "sampled_out_seconds"
	sampledIdle  = "sampled_idle_seconds"
	sampledAsked = "sampled_asked_bytes"
)

// A histogram has how many values there are up to each bound, of which the last is infinite.
type histogram map[float64]float64

// mostBounds is how many bounds are read of one: dewpond's own exporters have fewer.
const mostBounds = 200

// isSampled reports whether a metric is one of these.
func isSampled(metric string) bool {
	switch metric {
	case sampledOut, sampledIdle, sampledAsked:
		return true
	}
	return false
}

// addSampled adds a number of values up to a bound.
func (p *Page) addSampled(metric, pool, bound string, n float64) {
	upTo, err := strconv.ParseFloat(strings.TrimPrefix(bound, "+"), 64)
	if err != nil || math.IsNaN(upTo) || !(n >= 0) || math.IsInf(n, 0) {
		return
	}
	of := p.pool(pool)
	if of.sampled == nil {
		of.sampled = map[string]histogram{}
	}
	h := of.sampled[metric]
	if h == nil {
		h = histogram{}
		of.sampled[metric] = h
	}
	if len(h) < mostBounds {
		h[upTo] = n
	}
}

// atMost returns how many values are known to be no larger than a bound.
func (h histogram) atMost(bound float64) (n float64) {
	for upTo, count := range h {
		if upTo <= bound {
			n = max(n, count)
		}
	}
	return n
}

// since returns what was counted after then, and nothing of a pool that was made anew.
func (h histogram) since(then histogram) histogram {
	grown := histogram{}
	for upTo, n := range h {
		grown[upTo] = max(0, n-then.atMost(upTo))
	}
	return grown
}

// Sampled is what was seen of a pool in checked mode.
type Sampled struct {
	Out   Quantiles  `json:"out_seconds"`
	Idle  Quantiles  `json:"idle_seconds"`
	Asked *Quantiles `json:"asked_bytes,omitempty"` // nil if it is a pool of objects
	Cap   float64    `json:"cap_bytes,omitempty"`   // which holds nine of ten that were asked for
}

// Quantiles are the median of watched values, and what nine of ten do not exceed: each is the upper bound of a
// bucket.
type Quantiles struct {
	Watched float64           `json:"watched"`
	P50     estimate.Estimate `json:"p50"`
	P90     estimate.Estimate `json:"p90"`
}

// leastWatched is how many values there must be for one in ten to be more than a handful.
const leastWatched = 100

// sampledBetween returns what a pool's histograms say of a window, or nil if it is not in checked mode.
func sampledBetween(then, now *Pool) *Sampled {
	if now.sampled == nil {
		return nil
	}
	in := func(metric string) histogram { return now.sampled[metric].since(then.sampled[metric]) }
	s := &Sampled{Out: in(sampledOut).quantiles(), Idle: in(sampledIdle).quantiles()}
	if now.sampled[sampledAsked].atMost(math.Inf(1)) > 0 {
		q := in(sampledAsked).quantiles()
		s.Asked = &q
		if q.P90.Known() {
			s.Cap = now.class(q.P90.Mid)
		}
	}
	return s
}

// class returns the smallest class that holds a size, of those that the pool has used, or the size if there is none.
func (p *Pool) class(size float64) float64 {
	classes := slices.Concat(slices.Collect(maps.Keys(p.Hits)), slices.Collect(maps.Keys(p.Misses)))
	slices.Sort(classes)
	for _, class := range classes {
		if float64(class) >= size {
			return float64(class)
		}
	}
	return size
}

func (h histogram) quantiles() Quantiles {
	return Quantiles{h.atMost(math.Inf(1)), h.quantile(0.5), h.quantile(0.9)}
}

// quantile estimates a quantile: the ranks that the true one has in 19 of 20 samples are those of the binomial law.
func (h histogram) quantile(q float64) estimate.Estimate {
	n := h.atMost(math.Inf(1))
	if n < leastWatched {
		return estimate.CannotTell("%.0f were watched, and %d are needed: watch for longer, or more of them, as with DEWPOND_CHECK=sampled=1/64", n, leastWatched)
	}
	spread := 1.96 * math.Sqrt(n*q*(1-q))
	low, _ := h.bucket(n*q - spread)
	_, mid := h.bucket(n * q)
	_, high := h.bucket(min(n, n*q+spread))
	if math.IsInf(high, 1) {
		return estimate.CannotTell("it may be more than the largest bound that is counted")
	}
	return estimate.Estimate{Low: low, Mid: mid, High: high}
}

// bucket returns between which bounds the value of a rank is.
func (h histogram) bucket(rank float64) (above, upTo float64) {
	for _, bound := range slices.Sorted(maps.Keys(h)) {
		if h.atMost(bound) >= rank {
			return above, bound
		}
		above = bound
	}
	return above, math.Inf(1)
}
