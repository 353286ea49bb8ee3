package words

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// TooShort says that resident memory was not watched long enough for a trend.
const TooShort = "too short to tell"

// Flat returns "yes" or "no", or nothing if it was not measured.
func Flat(c *bench.Contender, name string) string {
	switch v, ok := c.Soak.Flat[name]; {
	case !ok:
		return ""
	case v:
		return "yes"
	}
	return "no"
}

// PerMinute formats a slope with its interval: "+0.1 MB [-0.2 MB, +0.4 MB]".
func PerMinute(t *bench.Trend) string {
	s := func(v float64) string { return figure.Signed("_bytes", v) }
	return fmt.Sprintf("%s [%s, %s]", s(t.Slope), s(t.Low), s(t.High))
}

// RSS says what follows from a slope.
func RSS(t *bench.Trend) string {
	switch {
	case t.Low > 0:
		return "rises"
	case t.High < 0:
		return "falls"
	}
	return "yes"
}

// soakWords returns the verdict in sentences, one for each contender.
func soakWords(d bench.Document) []string {
	var out []string
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c.Soak == nil {
			continue
		}
		flat, not := []string{}, []string{}
		for _, f := range figures.Flatness {
			switch Flat(c, f.Name) {
			case "yes":
				flat = append(flat, f.Says)
			case "no":
				not = append(not, f.Says+" ("+left(c, f)+")")
			}
		}
		var said []string
		if len(not) > 0 {
			said = append(said, "NOT flat: "+strings.Join(not, ", "))
		}
		if len(flat) > 0 {
			said = append(said, "flat: "+strings.Join(flat, ", "))
		}
		if t := c.Soak.RSS; t != nil {
			how := map[string]string{"yes": "is flat as far as one can tell", "rises": "rises", "falls": "falls"}[RSS(t)]
			said = append(said, fmt.Sprintf("RSS %s, %s a minute over %s s", how, PerMinute(t), figure.Significant(t.Seconds)))
		} else {
			said = append(said, "RSS: "+TooShort)
		}
		out = append(out, c.Name+": "+strings.Join(said, "; ")+".")
	}
	if slices.ContainsFunc(d.Contenders, func(c bench.Contender) bool { return c.Figures["pressure_at_rest"].Max > 0 }) {
		out = append(out, "Memory pressure was not low yet when all was put back, so idle blocks went faster than IdleTimeout says. Rounds of 40 s or more give it time to fall.")
	}
	return out
}

// left names what was left of a thing that is not flat.
func left(c *bench.Contender, f figures.Flat) string {
	var found []string
	for _, name := range f.Figures {
		if worst := c.Figures[name]; worst.Max > 0 {
			found = append(found, figures.Label(name)+" "+figure.Format(name, worst.Max))
		}
	}
	return strings.Join(found, ", ")
}

// Unflat returns the error of a soak in which something grew or stayed behind. It is nil if
// nothing did, and for every other scenario.
func Unflat(d bench.Document) error {
	var errs []error
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c.Soak == nil {
			continue
		}
		for _, f := range figures.Flatness {
			if Flat(c, f.Name) == "no" {
				errs = append(errs, fmt.Errorf("soak: %s: %s not flat: %s", c.Name, f.Says, left(c, f)))
			}
		}
	}
	return errors.Join(errs...)
}
