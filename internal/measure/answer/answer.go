// Package answer answers the questions of a user: each with one ratio of dewpond to syncpool-class.
package answer

import (
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/verdict"
)

// A question is what a user asks, and the figure that answers it.
type question struct{ topic, text, figure string }

// questions returns what a scenario can answer, the point of the scenario first.
func questions(sc result.Scenario) []question {
	switch sc.Name {
	case "micro":
		return []question{
			{"hot, one size", "1 goroutine", "micro_128_1g_ns"},
			{"hot, one size", "parallel", "micro_128_par_ns"},
		}
	case "mixed":
		many := figure.Several(sc.Goroutines, "goroutine")
		if sc.Mode == "open" {
			return []question{{many, "response P999", "response_p999_ns"}, {many, "service P999", "service_p999_ns"}}
		}
		return []question{{many, "Get P999", "get_p999_ns"}, {many, "Put P999", "put_p999_ns"}}
	case "churn":
		traffic := "steady mixed traffic"
		if sc.IdleTimeout != "" { // not the default, so that much is given back meanwhile
			traffic += ", IdleTimeout " + sc.IdleTimeout
		}
		return []question{
			{traffic, "Get P999", "get_p999_ns"},
			{traffic, "Put P999", "put_p999_ns"},
			{traffic, "Get P9999", "get_p9999_ns"},
		}
	case "burst":
		after := "after " + figure.Several(sc.Collections, "collection")
		return []question{
			{after, "blocks allocated again", "second_burst_misses"},
			{after, "time to get them again", "second_burst_ns"},
			{after, "memory when idle", "rss_when_idle_bytes"},
		}
	case "window":
		full := figure.Several(sc.Blocks, "message") + " in a map"
		return []question{{full, "push P50", "push_p50_ns"}, {full, "push P999", "push_p999_ns"}}
	}
	return nil
}

// Of returns the answers of a document, or of all its parts. There are none if dewpond or the
// baseline took no part.
func Of(d result.Document) []result.Answer {
	var out []result.Answer
	for _, part := range d.Parts {
		out = append(out, Of(part)...)
	}
	ours, base := d.Contender(result.Ours), d.Contender(result.Baseline)
	if ours == nil || base == nil {
		return out
	}
	for _, q := range questions(d.Scenario) {
		mine, have := figure.Of(ours, q.figure)
		theirs, known := figure.Of(base, q.figure)
		if !have || !known {
			continue
		}
		a := result.Answer{Topic: q.topic, Question: q.text, Scenario: d.Scenario.Name, Figure: q.figure, Ours: mine, Baseline: theirs}
		if r, ok := ours.Ratios[q.figure]; ok {
			side, floor := verdict.Between(ours, base, q.figure)
			a.Ratio, a.Side, a.Floor = &r, string(side), floor
			if d.Scenario.Quick {
				a.Side, a.Floor = "", false
			}
		}
		out = append(out, a)
	}
	return out
}
