package words

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// Flat returns "yes" or "no", or nothing if it was not measured.
func Flat(c *result.Contender, name string) string {
	switch v, ok := c.Soak.Flat[name]; {
	case !ok:
		return ""
	case v:
		return "yes"
	}
	return "no"
}

// PerMinute formats a slope with its interval: "+0.1 MB [-0.2 MB, +0.4 MB]".
func PerMinute(t *result.Trend) string {
	s := func(v float64) string { return figure.Signed("_bytes", v) }
	return fmt.Sprintf("%s [%s, %s]", s(t.Slope), s(t.Low), s(t.High))
}

// longEnough is how many seconds of resident memory are enough for a trend: two of the squeezes of
// the memory limit that scenario soak makes. In less time the way down or up after a squeeze would
// look like a trend.
const longEnough = 120

// RSS says what follows from a slope.
func RSS(t *result.Trend) string {
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

// soakWords returns the verdict in sentences, one for each contender.
func soakWords(d result.Document) []string {
	var out []string
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c.Soak == nil {
			continue
		}
		var said []string
		for _, f := range figure.Flatness {
			if v := Flat(c, f.Name); v != "" {
				said = append(said, f.Label+" flat: "+v)
			}
		}
		if t := c.Soak.RSS; t != nil {
			how := map[string]string{"yes": "flat as far as can be told", "rises": "rises", "falls": "falls", "too short": "watched for too short a time to judge"}[RSS(t)]
			said = append(said, fmt.Sprintf("RSS %s: %s a minute beside a mean of %s, over %s s, %d samples worth %s independent ones",
				how, PerMinute(t), figure.ByteSize(t.Mean), figure.Significant(t.Seconds), t.Samples, figure.Significant(t.Independent)))
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

// Unflat returns the error of a soak in which something grew or stayed behind. It is nil if
// nothing did, and for every other scenario.
func Unflat(d result.Document) error {
	var errs []error
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c.Soak == nil {
			continue
		}
		for _, f := range figure.Flatness {
			if Flat(c, f.Name) != "no" {
				continue
			}
			var found []string
			for _, name := range f.Figures {
				if worst := c.Figures[name]; worst.Max > 0 {
					found = append(found, figure.Label(name)+" "+figure.Format(name, worst.Max))
				}
			}
			errs = append(errs, fmt.Errorf("soak: %s: %s not flat: %s", c.Name, f.Says, strings.Join(found, ", ")))
		}
	}
	return errors.Join(errs...)
}
