package load

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/kit/amount"
)

// A Stage is a part of [Arrivals] in which the rate goes in a straight line from what it was at the end
// of the stage before to Rate. The first stage has its Rate from its beginning on.
type Stage struct {
	// Name is what reports call it; no other stage has it. Empty is "stage" and its number.
	Name string
	// For is how long it takes. 0 is a step: the rate is another one at once.
	For time.Duration
	// Rate is sessions a second at its end: 0 to 1e6.
	Rate float64
	// Back makes it a spike that returns: the stage has Rate all along, and at its end the rate is what
	// it was before.
	Back bool
}

const mostStages = 50

// ParseStages reads stages as the flag --stage has them, such as 30s:200/s,5s:800/s,60s:800/s. A time
// says how long the stage takes, and one with an @ before it when it ends, as in @30s:200/s. With :back
// behind it the stage is a spike that returns.
func ParseStages(text string) ([]Stage, error) {
	var all []Stage
	for one := range strings.SplitSeq(text, ",") {
		s, err := parseStage(strings.TrimSpace(one), all)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// asStages shows what a stage is in a text.
const asStages = "give TIME:RATE, as in 30s:200/s,5s:800/s,60s:800/s"

func parseStage(text string, before []Stage) (s Stage, err error) {
	rest, back := strings.CutSuffix(text, ":back")
	s.Back = back
	length, rate, ok := strings.Cut(rest, ":")
	if !ok {
		return s, fmt.Errorf("%q is no stage: %s", text, asStages)
	}
	until, ends := strings.CutPrefix(length, "@")
	if s.For, err = time.ParseDuration(until); err != nil {
		return s, fmt.Errorf("%q: %q is no time: %s", text, until, asStages)
	}
	if ends {
		if s.For, err = Until(before, s.For); err != nil {
			return s, fmt.Errorf("%q %w", text, err)
		}
	}
	r, err := amount.ParseRate(rate)
	s.Rate = float64(r)
	if err != nil {
		return s, fmt.Errorf("%q: %q is no rate: %s", text, rate, asStages)
	}
	return s, nil
}

// Until returns how long a stage takes that follows others and ends at a time, since the first of them
// began.
func Until(before []Stage, end time.Duration) (time.Duration, error) {
	begins := length(before)
	if end < begins {
		return 0, fmt.Errorf("goes back in time: it ends at %v, and the stage before it at %v: give %v or more", end, begins, begins)
	}
	return end - begins, nil
}

func length(stages []Stage) (all time.Duration) {
	for _, s := range stages {
		all += s.For
	}
	return all
}

// Length is how long sessions begin that are measured: Duration, or that of all stages.
func (a Arrivals) Length() time.Duration {
	if len(a.Stages) > 0 {
		return length(a.Stages)
	}
	return a.Duration
}

// Mean is the sessions a second that are due in that time.
func (a Arrivals) Mean() float64 {
	if len(a.Stages) == 0 {
		return a.Rate
	}
	c := a.course()
	return (c.until(a.Warmup+a.Length()) - c.until(a.Warmup)) / a.Length().Seconds()
}

// Expected returns how many sessions are due before a time since the start, warm-up included: the
// integral of the rate.
func (a Arrivals) Expected(before time.Duration) float64 { return a.course().until(before) }

func (a Arrivals) validateStages() error {
	switch {
	case a.Rate != 0:
		return at("arrivals.rate", "rate and stages: give one; the first stage begins with its own rate")
	case a.Duration != 0:
		return at("arrivals.duration", "duration and stages: give one; the stages say how long each takes")
	case a.Users != 0:
		return at("arrivals.users", "users and stages: give one; in closed mode the target sets the rate")
	case len(a.Stages) > mostStages:
		return at("arrivals.stages", "%d stages: give at most %d", len(a.Stages), mostStages)
	}
	due := false
	total := time.Duration(0)
	names := map[string]bool{}
	for i, s := range a.Stages {
		where := fmt.Sprintf("arrivals.stages[%d]", i)
		name := s.name(i)
		switch {
		case s.For < 0:
			return at(where+".for", "%s goes back in time: it takes %v: give 0s for a step, or more", name, s.For)
		case s.For > mostDuration || total+s.For > mostDuration:
			return at(where+".for", "the stages take more than %v: give less", mostDuration)
		case !(s.Rate >= 0 && s.Rate <= mostRate):
			return at(where+".rate", "%s has a rate of %s: give sessions a second, 0 to %.0f", name, strconv.FormatFloat(s.Rate, 'f', -1, 64), mostRate)
		case s.Back && i == 0:
			return at(where+".back", "%s has nothing to go back to: give a stage before it", name)
		case s.Back && s.For == 0:
			return at(where+".for", "%s goes back at once: give it a time, such as 5s", name)
		case names[name]:
			return at(where+".name", "%q is two stages: give each its own name", name)
		}
		names[name] = true
		total += s.For
		due = due || s.Rate > 0
	}
	switch {
	case total == 0:
		return at("arrivals.stages", "the stages take no time: give one a time, such as 30s")
	case !due:
		return at("arrivals.stages", "no session is due: give one of the stages a rate above 0")
	}
	return nil
}

func (s Stage) name(index int) string {
	if s.Name != "" {
		return s.Name
	}
	return "stage " + strconv.Itoa(index+1)
}

// A slope is a while in which the rate goes in a straight line.
type slope struct {
	name     string // of its stage; empty in the warm-up, and where there are no stages
	from, to time.Duration
	low      float64 // rate at its beginning
	high     float64 // at its end, which may be less
	base     float64 // sessions that are due before it
}

func (s slope) seconds() float64 { return (s.to - s.from).Seconds() }

// due is how many sessions are due in its first seconds.
func (s slope) due(seconds float64) float64 {
	if s.low == s.high {
		return s.low * seconds
	}
	return seconds * (s.low + (s.high-s.low)*seconds/(2*s.seconds()))
}

// after returns the seconds after which n sessions are due, which are fewer than are due in all of it.
func (s slope) after(n float64) float64 {
	if s.low == s.high {
		return n / s.low
	}
	if n <= 0 {
		return 0
	}
	grows := (s.high - s.low) / s.seconds()
	// The root of n = low t + grows t²/2, in the form that has no difference of nearly equal numbers.
	return 2 * n / (s.low + math.Sqrt(max(0, s.low*s.low+2*grows*n)))
}

// A course is the rate over time.
type course []slope

// course returns what the rate does, from the first session of the warm-up on. The warm-up has the rate
// with which the first stage begins.
func (a Arrivals) course() course {
	if len(a.Stages) == 0 {
		return course{{to: a.Warmup + a.Duration, low: a.Rate, high: a.Rate}}
	}
	rate := a.Stages[0].Rate
	var out course
	add := func(name string, d time.Duration, low, high float64) {
		if d == 0 {
			return
		}
		s := slope{name: name, to: d, low: low, high: high}
		if n := len(out); n > 0 {
			last := out[n-1]
			s.from, s.to, s.base = last.to, last.to+d, last.base+last.due(last.seconds())
		}
		out = append(out, s)
	}
	add("", a.Warmup, rate, rate)
	for i, s := range a.Stages {
		if s.Back {
			add(s.name(i), s.For, s.Rate, s.Rate)
			continue
		}
		add(s.name(i), s.For, rate, s.Rate)
		rate = s.Rate
	}
	return out
}

// until returns how many sessions are due before a time.
func (c course) until(t time.Duration) float64 {
	n := 0.0
	for _, s := range c {
		if t <= s.from {
			break
		}
		n = s.base + s.due((min(t, s.to) - s.from).Seconds())
	}
	return n
}

// when returns when n sessions are due, and the slopes that are left then, the one with that time being
// the first. Where none are due for a while, that is its end. There are no slopes left at the end of all.
func (c course) when(n float64) (time.Duration, course) {
	for len(c) > 0 && n >= c[0].base+c[0].due(c[0].seconds()) {
		c = c[1:]
	}
	if len(c) == 0 {
		return 0, nil
	}
	return time.Duration((c[0].from.Seconds() + c[0].after(n-c[0].base)) * 1e9), c
}

// stages returns the slopes that have names.
func (c course) stages() course {
	return slices.DeleteFunc(slices.Clone(c), func(s slope) bool { return s.name == "" })
}

// text says what the rate does, as in 200/s to 800/s.
func (s slope) text() string {
	if s.low == s.high {
		return rates.Text(s.low)
	}
	return rates.Text(s.low) + " to " + rates.Text(s.high)
}
