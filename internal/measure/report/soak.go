package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// soaked is the scenario that this file is about.
const soaked = "soak"

// longEnough is how many seconds of resident memory say anything of its trend: two of
// the squeezes of the memory limit (workload/weather.go). In less its way down or up
// after one of them would be taken for a trend.
const longEnough = 120

// flatness is what must be flat, by the figures that must be nothing in every round.
// Of goroutines there must be no more than at the start.
var flatness = []flatFigures{
	{"stranded_bytes", "stranded", []string{"stranded_bytes", "stranded_after_trim_bytes", "stranded_after_close_bytes"}, "stranded bytes"},
	{"in_use_bytes", "in use", []string{"in_use_at_rest_bytes", "budget_at_rest_bytes"}, "bytes in use after all was put back"},
	{"goroutines", "goroutines", []string{"goroutines_left"}, "goroutines"},
}

type flatFigures struct {
	name, label string
	figures     []string
	says        string // where it is not
}

// soak judges a contender. What no round has seen is not judged; what one has not
// seen, because it was cut short, is by the others.
func (s *series) soak(c result.Contender) *result.Soak {
	v := &result.Soak{RSS: trend(secondHalf(c.Series["rss_bytes"])), Flat: map[string]bool{}}
	for _, f := range flatness {
		for _, name := range f.figures {
			if worst, ok := c.Figures[name]; ok {
				before, seen := v.Flat[f.name]
				v.Flat[f.name] = worst.Max <= 0 && (before || !seen)
			}
		}
	}
	return v
}

// flatGrid is the verdict as a table.
func flatGrid(d result.Document) grid {
	heads := []string{"RSS mean", "RSS per minute", "RSS flat",
		"stranded by decay", "by Trim", "by Close", "stranded flat", "in use", "in the Budget", "in use flat",
		"goroutines at start", "at rest", "goroutines flat"}
	cells := func(c *result.Contender) []cell {
		if c.Soak == nil {
			return nil
		}
		var out []cell
		add := func(text string) { out = append(out, cell{text: text}) }
		of := func(name string) {
			if f, ok := c.Figures[name]; ok {
				out = append(out, value(name, f))
			} else {
				add(none)
			}
		}
		if t := c.Soak.RSS; t != nil {
			add(byteSize(t.Mean))
			add(perMinute(t))
			add(rssFlat(t))
		} else {
			add(none)
			add(none)
			add(none)
		}
		for _, f := range flatness {
			figures := f.figures
			if f.name == "goroutines" {
				figures = []string{"goroutines_at_start", "goroutines_at_rest"}
			}
			for _, name := range figures {
				of(name)
			}
			add(flat(c, f.name))
		}
		return out
	}
	if d.Scenario.Name != soaked {
		return grid{}
	}
	g := columns(d, "Flat?", heads, func(c *result.Contender, i int) cell {
		if all := cells(c); all != nil {
			return all[i]
		}
		return cell{text: none}
	})
	g.notes = []string{
		fmt.Sprintf("RSS: a straight line through the second half of the work, with the %s interval of its slope. It decides nothing: memory is the machine's too.", percent(wanted)),
		"Stranded: what pools hold after all was put back: those left to decay for up to a minute (see decayed in, and idle after two timeouts), all after Trim, all after Close (address space too). In use: by the pools' own count, and by the Budget's.",
	}
	return g
}

// inFlatGrid reports whether that table has a figure.
func inFlatGrid(name string) bool {
	return strings.HasPrefix(name, "goroutines_") || slices.ContainsFunc(flatness, func(f flatFigures) bool { return slices.Contains(f.figures, name) })
}

func flat(c *result.Contender, name string) string {
	switch v, ok := c.Soak.Flat[name]; {
	case !ok:
		return none
	case v:
		return "yes"
	}
	return "no"
}

// perMinute is a slope with its interval: "+0.1 MB [-0.2 MB, +0.4 MB]".
func perMinute(t *result.Trend) string {
	s := func(v float64) string { return signed("_bytes", v) }
	return fmt.Sprintf("%s [%s, %s]", s(t.Slope), s(t.Low), s(t.High))
}

// rssFlat is what can be said of a slope.
func rssFlat(t *result.Trend) string {
	switch {
	case t.Seconds < longEnough:
		return "too short"
	case t.Low > 0:
		return "rises"
	case t.High < 0:
		return "falls"
	}
	return "yes"
}

// soakWords is the verdict in sentences, one for each contender.
func soakWords(d result.Document) []string {
	var out []string
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c.Soak == nil {
			continue
		}
		var said []string
		for _, f := range flatness {
			if v := flat(c, f.name); v != none {
				said = append(said, f.label+" flat: "+v)
			}
		}
		if t := c.Soak.RSS; t != nil {
			how := map[string]string{"yes": "flat as far as can be told", "rises": "rises", "falls": "falls", "too short": "watched for too short a time to judge"}[rssFlat(t)]
			said = append(said, fmt.Sprintf("RSS %s: %s a minute beside a mean of %s, over %s s, %d samples worth %s independent ones",
				how, perMinute(t), byteSize(t.Mean), significant(t.Seconds), t.Samples, significant(t.Independent)))
		} else {
			said = append(said, "RSS: seen for too short a time to say how it went")
		}
		out = append(out, c.Name+": "+strings.Join(said, "; ")+".")
	}
	if slices.ContainsFunc(d.Contenders, func(c result.Contender) bool { return c.Figures["pressure_at_rest"].Max > 0 }) {
		out = append(out, "Pressure was not low yet when all had been put back, so idle blocks went faster than IdleTimeout says. Rounds of some 40 s and more give it time to fall.")
	}
	return out
}

// Unflat is the error of a soak in which something grew or stayed behind; nil where
// nothing did, and in every other scenario.
func Unflat(d result.Document) error {
	var errs []error
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c.Soak == nil {
			continue
		}
		for _, f := range flatness {
			if flat(c, f.name) != "no" {
				continue
			}
			var found []string
			for _, name := range f.figures {
				if worst := c.Figures[name]; worst.Max > 0 {
					found = append(found, label(name)+" "+format(name, worst.Max))
				}
			}
			errs = append(errs, fmt.Errorf("soak: %s: %s not flat: %s", c.Name, f.says, strings.Join(found, ", ")))
		}
	}
	return errors.Join(errs...)
}
