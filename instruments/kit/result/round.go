// Package result holds what was measured, as plain data: a child process prints a [Round], and the
// parent makes figures of all rounds, which every report is written from.
package result

// A Round is one contender's run of one scenario. A child process of its own measures it and sends
// it to the parent as one JSON object.
type Round struct {
	Scenario  string `json:"scenario"`
	Contender string `json:"contender"`
	Round     int    `json:"round"` // from 0; rounds with the same number ran close together in time

	Ops           uint64  `json:"ops"`              // Get+Put pairs, or pushes
	Seconds       float64 `json:"seconds"`          // length of the measured window
	Cut           bool    `json:"cut"`              // ended early by an interrupt
	Verified      uint64  `json:"verified"`         // blocks whose stamp was checked
	Engine        string  `json:"engine,omitempty"` // of a contender that has several: which one, and why
	RecorderBytes uint64  `json:"recorder_bytes"`   // the size of the recorder itself

	GCCycles     uint64  `json:"gc_cycles"`
	AllocBytes   uint64  `json:"alloc_bytes"`
	Allocs       uint64  `json:"allocs"`
	GCCPUShare   float64 `json:"gc_cpu_share"`   // 0 to 1, of the CPU that the process used
	RSSPeakBytes uint64  `json:"rss_peak_bytes"` // VmHWM of the child

	// Histograms, each in HdrHistogram's V2 encoding, in nanoseconds, by the keys of
	// figure.Operations: "get" and "put" (service times), "replace" (a Put and the Get after it), "pair" (the Get and the Put of one block),
	// "push"; where operations are due by the clock "response" (from the intended start),
	// "service" and "lag" (how late the generator was).
	Histograms map[string][]byte `json:"histograms,omitempty"`

	// Figures of only one scenario or mode, by a stable snake_case name with its unit as
	// suffix: "rss_when_idle_bytes", "later_misses", "dropped_arrivals".
	Figures map[string]float64 `json:"figures,omitempty"`

	// Series over time: "idle_bytes" (if the contender reports it), "in_use_bytes", "rss_bytes"
	// (if the system reports it), "collections".
	Series map[string][]Point `json:"series,omitempty"`

	// Tools are measured after all else: none of the fields above includes them.
	Tools []ToolRound `json:"tools,omitempty"`
}

// A ToolRound is one use of one tool, with its alternatives.
type ToolRound struct {
	Tool         string             `json:"tool"`
	Case         string             `json:"case"`
	Alternatives []AlternativeRound `json:"alternatives"` // the tool first
}

// An AlternativeRound is one alternative in one round: medians over its batches, for one use.
type AlternativeRound struct {
	Name   string  `json:"name"`
	Ns     float64 `json:"ns"`
	Bytes  float64 `json:"bytes"`
	Allocs float64 `json:"allocs"`
	// Ratio is the median of the time of the tool's batch divided by the time of this batch in
	// the same turn.
	Ratio float64 `json:"ratio"`
}

// A Point of a series is a value at a time since the series began.
type Point struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}
