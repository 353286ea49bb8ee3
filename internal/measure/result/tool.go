package result

// A Tool is one use of a tool of dewpond's beside what the tool replaces. All its
// alternatives ran in one process, in short batches that took turns.
type Tool struct {
	Name         string        `json:"name"` // Pool, Lease, Scope or Buffer
	Case         string        `json:"case"`
	Alternatives []Alternative `json:"alternatives"` // dewpond's first
}

// An Alternative is one way to have what a tool is for. Its figures are of one use
// and over the rounds.
type Alternative struct {
	Name   string `json:"name"`
	Time   Figure `json:"time_ns"`
	Bytes  Figure `json:"alloc_bytes"`
	Allocs Figure `json:"allocs"`
	// Ratio is dewpond's time to this one's; none for dewpond's own. A round's
	// quotient is the median over its pairs of batches.
	Ratio *Ratio `json:"ratio,omitempty"`
}
