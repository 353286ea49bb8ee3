package comparison

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"

	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// Words say what helped, what did nothing that can be told apart, and what hurt.
func Words(rows []Row, controls []Control) []string {
	if len(rows) == 0 {
		return nil
	}
	var out []string
	again := map[string]result.Ratio{}
	for _, c := range controls {
		if c.Variant == variant.Again {
			again = c.Ratios
		}
	}
	if rows[0].Throughput.Rounds < summary.VerdictRounds {
		out = append(out, fmt.Sprintf("No verdict: there are %d rounds, and it takes %d.", rows[0].Throughput.Rounds, summary.VerdictRounds))
	} else {
		for _, row := range rows[1:] {
			if row.Variant != variant.Again {
				out = append(out, sentence(row.Variant, variant.Before, row.Ratios, again))
			}
		}
		for _, c := range controls {
			if c.Variant != variant.Again {
				out = append(out, sentence(c.Variant, c.Control, c.Ratios, again))
			}
		}
	}
	for _, row := range rows {
		if !row.Little.Holds {
			out = append(out, fmt.Sprintf("%s does not pass Little's law: rate times mean is %s, and there were %.0f users. Its figures are inconsistent.", row.Variant, whole(row.Little.Says), row.Little.Users))
		}
		if row.Response.Errors > 0 {
			out = append(out, fmt.Sprintf("%s: %d requests failed.", row.Variant, row.Response.Errors))
		}
	}
	return append(out, Published())
}

// sentence says how a variant compares with another, beside what the first variant differs from
// itself.
func sentence(name, to string, ratios, again map[string]result.Ratio) string {
	said := map[verdict.Side][]string{}
	for _, f := range figures {
		if r, ok := ratios[f.name]; ok {
			s := verdict.OfRepeated(r, again[f.name], f.moreIsBetter)
			said[s] = append(said[s], fmt.Sprintf("%s %s", f.label, bracketed(r)))
		}
	}
	text := name + " beside " + to + ": "
	switch helped, hurt := said[verdict.Better], said[verdict.Worse]; {
	case len(helped) > 0 && len(hurt) > 0:
		text += "helps in " + strings.Join(helped, ", ") + ", and hurts in " + strings.Join(hurt, ", ") + "."
	case len(helped) > 0:
		text += "helps in " + strings.Join(helped, ", ") + "."
	case len(hurt) > 0:
		text += "hurts in " + strings.Join(hurt, ", ") + "."
	default:
		text += "nothing that can be told apart."
	}
	if n := said[verdict.Unseen]; len(n) > 0 {
		text += " Within the noise of " + variant.Before + " beside itself: " + strings.Join(n, ", ") + "."
	}
	return text
}

func bracketed(r result.Ratio) string {
	return fmt.Sprintf("%.2fx [%.2f, %.2f]", r.Median, r.Low, r.High)
}
