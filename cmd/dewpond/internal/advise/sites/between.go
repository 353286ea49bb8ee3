package sites

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// A Site is what one line of the program has allocated in a window of time.
type Site struct {
	Key
	Samples int64   // of what was allocated in the window
	Seconds float64 // of the window

	Bytes, Objects estimate.Estimate           // a second
	Share          estimate.Estimate           // of the bytes that the program has allocated
	Sizes          map[int64]estimate.Estimate // objects a second by the size that Go has allocated

	Live  estimate.Estimate // bytes, the mean of the window
	Grown float64           // bytes by which Live has grown
	Life  estimate.Estimate // mean, in seconds: live bytes by bytes a second
	Below float64           // seconds, if nothing of it was seen alive: Life is less

	Stacks []*Stack // the ways to it, those with most bytes first
}

// A Window is what a program has allocated between two looks.
type Window struct {
	Duration  time.Duration
	Rate      int64   // one block in so many bytes was sampled
	Allocated float64 // bytes in the window
	Sampled   float64 // bytes that the profiles have a sample of
	Live      estimate.Estimate
	Sites     []*Site // those with most bytes first
}

// Errors of readings that do not go together. Each says what to do.
var (
	ErrSinceStart = errors.New("it counts since the start of the program, and so says nothing of how much is allocated a second: give two that were saved some time apart, or what /debug/pprof/allocs?seconds=30 answers")
	ErrOrder      = errors.New("the second profile is older than the first: give them in the order in which they were saved")
	ErrPrograms   = errors.New("the profiles are of different programs, or of different builds or runs of one: give two of the same process")
	ErrRates      = errors.New("the profiles were sampled at different rates (runtime.MemProfileRate): give two of the same process, which must not change it while it runs")
	ErrEmpty      = errors.New("no allocation was sampled in the window: the profile has what was allocated until the last collection, so collect for longer, or at a time of more load")
)

// Between returns what was allocated between the first reading and the last, or if there is one alone
// in its duration. allocated is how many bytes that were, of which the profiles have a sample; 0 if
// that is not known.
func Between(readings []*Reading, allocated float64) (*Window, error) {
	first, last := readings[0], readings[len(readings)-1]
	w := &Window{Rate: last.Rate}
	switch {
	case len(readings) == 1 && last.Duration <= 0:
		return nil, ErrSinceStart
	case len(readings) == 1:
		first, w.Duration = &Reading{}, last.Duration
	default:
		for i, r := range readings[1:] {
			if err := follows(readings[i], r); err != nil {
				return nil, err
			}
		}
		w.Duration = last.At.Sub(first.At)
	}

	sampled := 0.0 // bytes that the sample stands for
	for key, counts := range last.Sites {
		for size, c := range counts.Classes {
			d := first.class(key, size)
			if c.Objects < d.Objects || c.Bytes < d.Bytes {
				return nil, ErrOrder
			}
			sampled += float64(c.Bytes - d.Bytes)
		}
	}
	if sampled == 0 {
		return nil, ErrEmpty
	}
	w.Sampled = sampled
	if w.Allocated = allocated; allocated == 0 {
		w.Allocated = sampled
	}
	// The profile ends at a collection, so it has another part of the time than the window. What was
	// allocated in the window is shared out as the sample is.
	scale := w.Allocated / sampled
	for key := range last.Sites {
		if s := w.site(key, first, last, scale); s != nil {
			w.Sites = append(w.Sites, s)
		}
	}
	w.live(readings)
	slices.SortFunc(w.Sites, func(a, b *Site) int {
		return cmp.Or(cmp.Compare(b.Bytes.Mid, a.Bytes.Mid), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Line, b.Line))
	})
	return w, nil
}

// follows returns an error unless b is a later reading of the same process as a.
func follows(a, b *Reading) error {
	switch {
	case a.Duration > 0 || b.Duration > 0:
		return fmt.Errorf("one of the profiles has a duration (%v): give it alone, or two that count since the start", max(a.Duration, b.Duration))
	case a.Binary != b.Binary || a.BuildID != b.BuildID:
		return ErrPrograms
	case a.Rate != b.Rate:
		return ErrRates
	case !b.At.After(a.At):
		return ErrOrder
	}
	return nil
}

func (r *Reading) class(key Key, size int64) Class {
	if counts := r.Sites[key]; counts != nil && counts.Classes[size] != nil {
		return *counts.Classes[size]
	}
	return Class{}
}

// site returns what a site has allocated, or nil if that was nothing.
func (w *Window) site(key Key, first, last *Reading, scale float64) *Site {
	s := &Site{Key: key, Seconds: w.Duration.Seconds(), Sizes: map[int64]estimate.Estimate{}}
	var bytes, objects sum
	each := scale / w.Duration.Seconds()
	for size := range last.Sites[key].Classes {
		now, before := last.class(key, size), first.class(key, size)
		if now.Objects == before.Objects {
			continue
		}
		p := last.Sampled(size)
		n := float64(now.Objects-before.Objects) * p
		var of sum
		for _, to := range []*sum{&objects, &of} {
			to.add(n, 1, p)
		}
		bytes.add(n, float64(size), p)
		s.Sizes[size] = of.estimate().Scaled(each)
	}
	if bytes.seen == 0 {
		return nil
	}
	s.Samples = int64(math.Round(bytes.seen))
	s.Bytes, s.Objects = bytes.estimate().Scaled(each), objects.estimate().Scaled(each)
	s.Share = bytes.estimate().Scaled(scale / w.Allocated)
	s.Share.High = min(1, s.Share.High)
	s.Stacks = slices.SortedFunc(maps.Values(last.Sites[key].Stacks), func(a, b *Stack) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return s
}

// live adds to the sites what of them was alive. A profile of a window alone has only by how much that
// has grown.
func (w *Window) live(readings []*Reading) {
	if len(readings) == 1 {
		const why = "a profile of a window does not say what lives: give two of /debug/pprof/heap instead"
		w.Live = estimate.CannotTell(why)
		for _, s := range w.Sites {
			s.Live, s.Life = w.Live, w.Live
		}
		return
	}
	last, n := readings[len(readings)-1], float64(len(readings))
	var all sum
	for _, r := range readings {
		for key := range r.Sites {
			r.live(key, &all)
		}
	}
	all.variance *= n // as if what lives were the same all the time
	w.Live = all.estimate().Scaled(1 / n)

	for _, s := range w.Sites {
		var mean sum
		for _, r := range readings {
			r.live(s.Key, &mean)
		}
		var begin, end sum
		readings[0].live(s.Key, &begin)
		last.live(s.Key, &end)
		s.Grown = end.total - begin.total
		if mean.seen == 0 {
			s.Live = estimate.Estimate{High: 3 * float64(w.Rate)} // with 95 %, if it were more one of three samples were seen
			s.Below = s.Live.High / s.Bytes.Mid
			s.Life = estimate.Estimate{High: s.Below}
			continue
		}
		// Readings that are closer together than blocks live have seen the same blocks.
		life := mean.total / n / s.Bytes.Mid
		mean.variance *= n / min(n, 1+w.Duration.Seconds()/life)
		s.Live = mean.estimate().Scaled(1 / n)
		s.Life = s.Live.Over(s.Bytes)
	}
}

// live adds what of a site is alive.
func (r *Reading) live(key Key, to *sum) {
	if counts := r.Sites[key]; counts != nil {
		for size, c := range counts.Classes {
			p := r.Sampled(size)
			to.add(float64(c.LiveObjects)*p, float64(size), p)
		}
	}
}

// Within reports whether a function that begins so is among those that call the site, or that it calls.
func (s *Site) Within(prefix string) bool {
	has := func(f Frame) bool { return strings.HasPrefix(f.Function, prefix) }
	return has(s.Frame) || slices.ContainsFunc(s.Stacks, func(way *Stack) bool {
		return slices.ContainsFunc(way.Callers, has) || slices.ContainsFunc(way.Callees, has)
	})
}

// Quiet reports whether the program had times without work between others: in some interval between
// two looks it has allocated less than a tenth of the mean. allocated is what it had allocated at
// each of them.
func Quiet(allocated []uint64) bool {
	if len(allocated) < 4 {
		return false
	}
	mean := float64(allocated[len(allocated)-1]-allocated[0]) / float64(len(allocated)-1)
	for i, v := range allocated[1:] {
		if float64(v-allocated[i]) < mean/10 {
			return true
		}
	}
	return false
}

// A sum is a total that is reckoned from a sample.
type sum struct{ seen, total, variance float64 }

// add adds n sampled blocks that weigh so much each, of which the runtime samples a share p.
func (s *sum) add(n, weight, p float64) {
	s.seen += n
	s.total += n * weight / p
	s.variance += n * weight * weight / p / p * (1 - p)
}

// estimate returns the total with its error. One whose parts were all seen has none.
func (s *sum) estimate() estimate.Estimate {
	if s.variance == 0 {
		return estimate.Exact(s.total)
	}
	return estimate.Weighted(s.total, s.total*s.total/s.variance)
}
