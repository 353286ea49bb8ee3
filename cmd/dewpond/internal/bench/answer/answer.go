// Package answer answers the questions of a user: each with one ratio of dewpond to syncpool-class.
package answer

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/judge"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// A question is what a user asks, and the figure that answers it.
type question struct {
	topic, text, figure string
	need                string // of somebody for whom the answer decides; empty where others say it
}

// questions returns what a scenario can answer, the point of the scenario first.
func questions(sc bench.Scenario) []question {
	switch sc.Name {
	case "micro":
		return []question{
			{"hot, one size", "1 goroutine", "micro_128_1g_ns", "one size is hot"},
			{"hot, one size", "parallel", "micro_128_par_ns", ""},
		}
	case "mixed":
		many := figure.Several(sc.Goroutines, "goroutine")
		if sc.Mode == "open" {
			return []question{{many, "response P999", "response_p999_ns", ""}, {many, "service P999", "service_p999_ns", ""}}
		}
		return []question{{many, "Get P999", "get_p999_ns", "Get P999 of " + many + " must be short"}, {many, "Put P999", "put_p999_ns", ""}}
	case "churn":
		traffic := "steady mixed traffic"
		if sc.IdleTimeout != "" { // not the default, so that much is given back meanwhile
			traffic += ", IdleTimeout " + sc.IdleTimeout
		}
		return []question{
			{traffic, "replacement P50", "replace_p50_ns", ""},
			{traffic, "replacement P99", "replace_p99_ns", ""},
			{traffic, "replacement P999", "replace_p999_ns", "replacement P999 of " + traffic + " must be short"},
			{traffic, "replacement P9999", "replace_p9999_ns", ""},
		}
	case "burst":
		after := "after " + figure.Several(sc.Collections, "collection")
		return []question{
			{after, "allocated again", "second_burst_misses", "blocks must survive collections"},
			{after, "time to get them", "second_burst_ns", ""},
			{after, "memory when idle", "rss_when_idle_bytes", "idle memory must be least"},
		}
	case "beyond":
		topic := figure.Several(sc.Bursts, "burst") + " of " + figure.Several(sc.Blocks, "block")
		if sc.MemoryLimit != "" {
			topic += ", memory limit " + figure.Amount(sc.MemoryLimit)
		}
		return []question{
			{topic, "processor time", "cpu_time_ns", ""}, {topic, "peak RSS", "rss_peak_bytes", "bursts exceed the idle bound"}, {topic, "bytes allocated", "allocated_bytes", ""},
			{topic, "hits of a second size", "second_size_hit_share", ""},
		}
	case "flood":
		topic := figure.Significant(sc.Times) + "x the traffic, bound " + figure.Amount(sc.Limit)
		return []question{{topic, "peak RSS", "rss_peak_bytes", "nothing else bounds a flood"}, {topic, "refused", "refused_share", "no request may be refused"}, {topic, "P99 of those served", "response_p99_ns", ""}}
	case "misuse":
		topic := "found of " + figure.Several(sc.Seeds, "misuse") + " of each kind, checked mode"
		return []question{{topic, "double Put", "double_put_found", "a double Put must be found"}, {topic, "write after Put", "write_after_put_found", "a write after Put must be found"}, {topic, "read after Put", "read_after_put_found", "a read after Put must be found"}}
	case "window":
		full := figure.Several(sc.Blocks, "message") + " in a map"
		return []question{{full, "push P50", "push_p50_ns", ""}, {full, "push P999", "push_p999_ns", ""}}
	}
	return nil
}

// Of returns the answers of a document, or of all its parts. There are none if dewpond or the
// baseline took no part.
func Of(d bench.Document) []bench.Answer {
	var out []bench.Answer
	for _, part := range d.Parts {
		of := Of(part)
		switch n := len(of); {
		case n > 0 && part.Scenario.Name == "churn" && part.Scenario.IdleTimeout != "":
			of = of[n-1:] // the tail alone: the part before has the traffic without that
		case part.Scenario.Name == "beyond":
			of = of[:min(n, 2)] // one screen is full: what is allocated is the cause of these
		}
		out = append(out, of...)
	}
	ours, base := d.Contender(bench.Ours), d.Contender(bench.Baseline)
	if ours == nil || base == nil {
		return out
	}
	for _, q := range questions(d.Scenario) {
		mine, have := figures.Of(ours, q.figure)
		theirs, known := figures.Of(base, q.figure)
		if !have || !known {
			continue
		}
		a := bench.Answer{Topic: q.topic, Question: q.text, Scenario: d.Scenario.Name, Figure: q.figure, Need: q.need, Ours: mine, Baseline: theirs}
		if r, ok := ours.Ratios[q.figure]; ok {
			a.Ratio = &r
		} else if e, ok := ours.Differences[q.figure]; ok {
			a.Difference = &e
		}
		if !d.Scenario.Quick {
			a.Side = string(judge.Between(ours, base, q.figure))
		}
		out = append(out, a)
	}
	return out
}
