// Package axis maps figures to places on a chart.
package axis

import (
	"math"
	"strconv"

	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// An Axis runs from Low to High, which are its ends.
type Axis struct {
	Low, High float64
	Log       bool
	Ticks     []Tick // in ascending order
}

// A Tick is a labelled place on an axis. A tick without a label is a line of the grid.
type Tick struct {
	Value float64
	Label string
	// Thin marks a label that a narrow chart leaves out.
	Thin bool
}

// At returns the place of a value: 0 at the low end of the axis, 1 at its high end. A value beyond
// an end has a place beyond it.
func (a Axis) At(v float64) float64 {
	if a.Log {
		return math.Log(v/a.Low) / math.Log(a.High/a.Low)
	}
	return (v - a.Low) / (a.High - a.Low)
}

// Linear returns an axis from low to high with about n ticks at round values.
func Linear(low, high float64, n int, format func(float64) string) Axis {
	if !(high > low) {
		high = low + 1
	}
	step := round((high - low) / float64(n))
	a := Axis{Low: low, High: high}
	for i := 0; ; i++ {
		v := math.Ceil(low/step)*step + float64(i)*step
		if v > high+step/1e3 {
			return a
		}
		a.Ticks = append(a.Ticks, Tick{Value: v, Label: format(v)})
	}
}

// round returns the least of 1, 2 and 5 times a power of ten that is not below v.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 5} {
		if v <= k*power*(1+1e-9) {
			return k * power
		}
	}
	return 10 * power
}

// Log returns a logarithmic axis around the positive values low and high. It has a label at each
// power of ten, and at 2 and 5 times a power where there are few powers.
func Log(low, high float64, format func(float64) string) Axis {
	a := Axis{Low: low, High: max(high, 2*low), Log: true}
	short := a.High/a.Low < 150
	for power := math.Pow(10, math.Floor(math.Log10(a.Low))); power <= a.High; power *= 10 {
		for k := 1.0; k < 10; k++ {
			v := k * power
			if v < a.Low*0.999 || v > a.High*1.001 {
				continue
			}
			t := Tick{Value: v}
			if k == 1 || short && (k == 2 || k == 5) {
				t.Label = format(v)
			}
			a.Ticks = append(a.Ticks, t)
		}
	}
	return a
}

// KeepPowers removes the labels of a logarithmic axis that are not at a power of ten.
func (a *Axis) KeepPowers() {
	for i, t := range a.Ticks {
		if power := math.Log10(t.Value); math.Abs(power-math.Round(power)) > 1e-9 {
			a.Ticks[i].Label = ""
		}
	}
	var kept []int
	for i, t := range a.Ticks {
		if t.Label != "" {
			kept = append(kept, i)
		}
	}
	if len(kept) > 4 { // a narrow chart has no room for all of them
		for i := 1; i < len(kept); i += 2 {
			a.Ticks[kept[i]].Thin = true
		}
	}
}

// Tail returns the axis of percentiles p as HdrHistogram's plots have it: 1/(1-p) on a
// logarithmic scale, so that each further nine takes the same width.
func Tail(low, high float64) Axis {
	a := Axis{Low: low, High: max(high, 2*low), Log: true, Ticks: []Tick{{Value: 2, Label: "P50"}}}
	for x, digits := 10.0, "9"; x <= a.High*1.001; x, digits = x*10, digits+"9" {
		label := "P" + digits
		if digits == "9" {
			label = "P90"
		}
		a.Ticks = append(a.Ticks, Tick{Value: x, Label: label})
	}
	if len(a.Ticks) > 5 { // a narrow chart has no room for all of them
		for i := len(a.Ticks) - 2; i > 0; i -= 2 {
			a.Ticks[i].Thin = true
		}
	}
	return a
}

// Seconds formats a time on an axis.
func Seconds(s float64) string {
	return strconv.FormatFloat(math.Round(s*1e6)/1e6, 'f', -1, 64) + " s"
}

// Of returns the formatter of a figure's axis.
func Of(name string) func(float64) string {
	return func(v float64) string { return figure.Plain(name, v) }
}
