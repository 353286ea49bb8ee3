// Package result holds what a benchmark measured, as plain data. A child process prints a [Round];
// the parent makes a [Document] of all rounds, which every report is written from.
package result

// A Round is one contender's run of one scenario. A child process of its own measures it and sends
// it to the parent as one JSON object.
type Round struct {
	Scenario  string `json:"scenario"`
	Contender string `json:"contender"`
	Round     int    `json:"round"` // from 0; rounds with the same number ran close together in time

	Ops           uint64  `json:"ops"`              // Get+Put pairs (window: pushes)
	Seconds       float64 `json:"seconds"`          // length of the measured window
	Cut           bool    `json:"cut"`              // ended early by an interrupt
	Verified      uint64  `json:"verified"`         // blocks whose stamp was checked
	Engine        string  `json:"engine,omitempty"` // dewpond only: pinned, or portable and why
	RecorderBytes uint64  `json:"recorder_bytes"`   // the size of the recorder itself

	GCCycles     uint64  `json:"gc_cycles"`
	AllocBytes   uint64  `json:"alloc_bytes"`
	Allocs       uint64  `json:"allocs"`
	GCCPUShare   float64 `json:"gc_cpu_share"`   // 0 to 1, of the CPU that the process used
	RSSPeakBytes uint64  `json:"rss_peak_bytes"` // VmHWM of the child

	// Histograms, each in HdrHistogram's V2 encoding, in nanoseconds. Keys:
	// "get" and "put" (service times); in open mode also "response" (from the
	// intended start), "service" and "lag" (how late the generator was);
	// window: "push".
	Histograms map[string][]byte `json:"histograms,omitempty"`

	// Figures of only one scenario or mode, by a stable snake_case name with its unit as
	// suffix: "micro_128_1g_ns", "second_burst_ns", "second_burst_misses", "burst_ns",
	// "dropped_arrivals".
	Figures map[string]float64 `json:"figures,omitempty"`

	// Series over time, of burst, churn and soak: "idle_bytes" (if the contender reports it),
	// "in_use_bytes", "rss_bytes" (if the system reports it), "collections".
	Series map[string][]Point `json:"series,omitempty"`

	// Tools are scenario micro's, measured after all else: none of the fields above includes
	// them.
	Tools []ToolRound `json:"tools,omitempty"`
}

// A ToolRound is one use of one of dewpond's tools, with its alternatives.
type ToolRound struct {
	Tool         string             `json:"tool"`
	Case         string             `json:"case"`
	Alternatives []AlternativeRound `json:"alternatives"` // dewpond's first
}

// An AlternativeRound is one alternative in one round: medians over its batches, for one use.
type AlternativeRound struct {
	Name   string  `json:"name"`
	Ns     float64 `json:"ns"`
	Bytes  float64 `json:"bytes"`
	Allocs float64 `json:"allocs"`
	// Ratio is the median of the time of dewpond's batch divided by the time of this batch in
	// the same turn.
	Ratio float64 `json:"ratio"`
}

// A Point of a series is a value at a time since the series began.
type Point struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}
