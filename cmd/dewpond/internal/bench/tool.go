package bench

import "github.com/dewpond/dewpond/instruments/kit/result"

// A Tool is one use of one of dewpond's tools beside what it replaces. All alternatives ran in
// one process, in short batches that took turns.
type Tool struct {
	Name         string        `json:"name"` // Pool, Lease, Scope or Buffer
	Case         string        `json:"case"`
	Alternatives []Alternative `json:"alternatives"` // dewpond's first
}

// An Alternative is one way to do what a tool does. Its figures are for one use, over the rounds.
type Alternative struct {
	Name   string        `json:"name"`
	Time   result.Figure `json:"time_ns"`
	Bytes  result.Figure `json:"alloc_bytes"`
	Allocs result.Figure `json:"allocs"`
	// Ratio is dewpond's time divided by this one's; nil for dewpond's own. A round's quotient
	// is the median over its pairs of batches.
	Ratio *result.Ratio `json:"ratio,omitempty"`
}
