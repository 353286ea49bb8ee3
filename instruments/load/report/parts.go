package report

import "github.com/dewpond/dewpond/instruments/load"

// parts returns the session, the steps and the protocols, in the order of reports.
func parts(r *load.Result) []*load.Part {
	parts := []*load.Part{&r.Session}
	if r.Awake != nil {
		parts = append(parts, r.Awake)
	}
	if len(r.Steps) > 1 || r.Awake != nil { // a session of one request is that request
		for i := range r.Steps {
			parts = append(parts, &r.Steps[i])
		}
	}
	for i := range r.Protocols {
		parts = append(parts, &r.Protocols[i].Part)
	}
	return parts
}

type namedTimes struct {
	name string
	*load.Times
}

func timesOf(p *load.Part) []namedTimes {
	return []namedTimes{
		{"response", p.Response}, {"service", p.Service}, {"lag", p.Lag}, {"waiting", p.Waiting}, {"failed", p.FailedResponse},
	}
}

// A percentile is one that reports show.
type percentile struct {
	name, label string // in JSON, and for people
	of          func(*load.Times) *float64
}

var percentiles = []percentile{
	{"p50_ns", "P50", func(t *load.Times) *float64 { return t.P50 }},
	{"p95_ns", "P95", func(t *load.Times) *float64 { return t.P95 }},
	{"p99_ns", "P99", func(t *load.Times) *float64 { return t.P99 }},
	{"p999_ns", "P999", func(t *load.Times) *float64 { return t.P999 }},
	{"p9999_ns", "P9999", func(t *load.Times) *float64 { return t.P9999 }},
}
