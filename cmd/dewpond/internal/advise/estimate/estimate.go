// Package estimate has figures with their error: an interval of 95 %, or the reason why there is no
// figure and what to collect instead.
package estimate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/aclements/go-moremath/mathx"
)

// An Estimate is a figure that was not read but derived, with its 95 % interval. One with a Why is
// refused, and has no figure. The zero Estimate is exactly 0.
type Estimate struct {
	Low, Mid, High float64
	Why            string // why it cannot be told, and what to collect instead
}

// Exact returns the Estimate of what was counted and not sampled.
func Exact(v float64) Estimate { return Estimate{Low: v, Mid: v, High: v} }

// CannotTell returns an Estimate without a figure. The text says what to collect instead.
func CannotTell(format string, a ...any) Estimate {
	return Estimate{Why: fmt.Sprintf(format, a...)}
}

// Known reports whether there is a figure.
func (e Estimate) Known() bool { return e.Why == "" }

// Scaled returns the Estimate times an exact number that is not negative.
func (e Estimate) Scaled(by float64) Estimate {
	return Estimate{e.Low * by, e.Mid * by, e.High * by, e.Why}
}

// Mapped returns what a function that never falls makes of the Estimate, or one that never rises.
func (e Estimate) Mapped(f func(float64) float64) Estimate {
	if !e.Known() {
		return e
	}
	low, high := f(e.Low), f(e.High)
	return Estimate{Low: min(low, high), Mid: f(e.Mid), High: max(low, high)}
}

// Over returns the quotient of two Estimates whose errors are independent. That of a divisor that
// may be 0 is refused.
func (e Estimate) Over(d Estimate) Estimate {
	switch {
	case !e.Known():
		return e
	case !d.Known():
		return d
	case d.Low <= 0:
		return CannotTell("the divisor may be 0: collect for longer")
	case e.Mid == 0:
		return Estimate{High: e.High / d.Mid}
	}
	// The relative errors add up as independent ones do, each side by itself.
	mid := e.Mid / d.Mid
	low := math.Hypot((e.Mid-e.Low)/e.Mid, (d.High-d.Mid)/d.Mid)
	high := math.Hypot((e.High-e.Mid)/e.Mid, (d.Mid-d.Low)/d.Mid)
	return Estimate{Low: max(0, mid*(1-low)), Mid: mid, High: mid * (1 + high)}
}

// Text formats the figure and its interval in one unit: "104 MB [98, 110]". An exact figure has no
// interval, and a refused one says why.
func (e Estimate) Text(format func(float64) string) string {
	switch {
	case !e.Known():
		return "cannot tell: " + e.Why
	case e.Low == e.High:
		return format(e.Mid)
	}
	mid := format(e.Mid)
	_, unit, _ := strings.Cut(mid, " ")
	number := func(v float64) string {
		text := format(v)
		if n, of, ok := strings.Cut(text, " "); ok && of == unit {
			return n
		}
		return text
	}
	return mid + " [" + number(e.Low) + ", " + number(e.High) + "]"
}

type document struct {
	Low        *float64 `json:"low,omitempty"`
	Mid        *float64 `json:"mid,omitempty"`
	High       *float64 `json:"high,omitempty"`
	CannotTell string   `json:"cannot_tell,omitempty"`
}

// MarshalJSON writes {"low": 1, "mid": 2, "high": 3}, or {"cannot_tell": "why"}.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Known() {
		return json.Marshal(document{CannotTell: e.Why})
	}
	return json.Marshal(document{Low: &e.Low, Mid: &e.Mid, High: &e.High})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	if d.CannotTell != "" {
		*e = Estimate{Why: d.CannotTell}
		return nil
	}
	if d.Low == nil || d.Mid == nil || d.High == nil {
		return errors.New(`an estimate has low, mid and high, or cannot_tell`)
	}
	*e = Estimate{Low: *d.Low, Mid: *d.Mid, High: *d.High}
	return nil
}

// Poisson returns the estimate of an expected count of which n were seen: the exact interval of
// 95 %, as Garwood has it.
func Poisson(n int64) Estimate {
	if n < 0 {
		return CannotTell("a count of %d is impossible", n)
	}
	return Weighted(float64(n), float64(n))
}

// Weighted returns the estimate of a total that was reckoned from a sample: the relative error is that
// of so many parts seen, a number that need not be whole. If none was seen, the estimate is of parts.
func Weighted(total, seen float64) Estimate {
	e := Estimate{High: inverseGamma(seen+1, 0.975)}
	if seen > 0 {
		each := total / seen
		e.Low, e.Mid, e.High = each*inverseGamma(seen, 0.025), total, each*e.High
	}
	return e
}

// Sum returns the sum of Estimates whose errors are independent. A refused one refuses the sum.
func Sum(all ...Estimate) Estimate {
	var sum Estimate
	var low, high float64
	for _, e := range all {
		if !e.Known() {
			return e
		}
		sum.Mid += e.Mid
		low = math.Hypot(low, e.Mid-e.Low)
		high = math.Hypot(high, e.High-e.Mid)
	}
	sum.Low, sum.High = sum.Mid-low, sum.Mid+high
	return sum
}

// normal is how many standard deviations of the normal law an interval of 95 % has to each side.
const normal = 1.959963985

// inverseGamma returns the x at which the gamma law with that shape has reached probability p, which
// is 0.025 or 0.975.
func inverseGamma(shape, p float64) float64 {
	if shape > 100 { // where Wilson and Hilferty's cube is right to four digits, and the series may not end
		z := math.Copysign(normal, p-0.5)
		return shape * math.Pow(1-1/(9*shape)+z/(3*math.Sqrt(shape)), 3)
	}
	spread := math.Sqrt(shape)
	low, high := max(0, shape-10*spread), shape+10*spread+20
	for range 60 {
		x := (low + high) / 2
		if mathx.GammaInc(shape, x) < p {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2
}
