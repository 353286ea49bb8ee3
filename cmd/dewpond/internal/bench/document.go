// Package bench holds what a bench command reports, as plain data. The packages below make a [Document]
// of measured rounds, judge it and write it: package report says in which order. They know the
// contenders that are special and the scenarios; the kit that they are made with, in instruments/kit,
// knows neither.
package bench

import (
	"slices"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Schema is the version of Document. It increases if a field changes its meaning or goes away,
// not if one is added.
const Schema = 1

// A Document is the whole result of one bench command: --json writes it, and every report is made
// from it. docs/schema.md describes it.
type Document struct {
	Schema      int        `json:"schema"`
	Command     []string   `json:"command"` // the exact arguments
	Environment Conditions `json:"environment"`
	Scenario    Scenario   `json:"scenario"`
	// Answers are to a user's questions, if dewpond and syncpool-class are among the contenders.
	Answers    []Answer    `json:"answers,omitempty"`
	Contenders []Contender `json:"contenders"` // empty in a tour and in rivals
	// Parts are the scenarios of a tour, or what the cells of rivals have measured, in their order.
	Parts []Document `json:"parts,omitempty"`
	Cells []Cell     `json:"cells,omitempty"` // scenario rivals
	Tools []Tool     `json:"tools,omitempty"` // scenario micro with dewpond among the contenders
	// Decay compares dewpond's figures with those of dewpond-nodecay, by the names of Ratios,
	// if both are among the contenders.
	Decay       map[string]result.Ratio `json:"decay,omitempty"`
	Words       []string                `json:"words,omitempty"` // the verdict in sentences; none with --quick, or in a tour
	Interrupted bool                    `json:"interrupted"`
}

// Conditions are the machine, and what is made slower on it.
type Conditions struct {
	result.Environment
	// Delays are the seams of dewpond's engine that a test build delays by 10 microseconds, or
	// "none". It is empty in other builds.
	Delays string `json:"delays,omitempty"`
}

// Contender returns the figures of the contender with that name, or nil if it took no part.
func (d Document) Contender(name string) *Contender {
	i := slices.IndexFunc(d.Contenders, func(c Contender) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Contenders[i]
}

// A Scenario describes what was measured.
type Scenario struct {
	Name       string  `json:"name"`
	Mode       string  `json:"mode"` // closed, open or paced
	Goroutines int     `json:"goroutines"`
	Mix        string  `json:"mix"` // size:percent,...
	Hold       string  `json:"hold"`
	Garbage    string  `json:"garbage"`        // bytes a second of unrelated garbage
	Live       string  `json:"live,omitempty"` // bytes kept alive beside the pool
	Rate       float64 `json:"rate,omitempty"` // arrivals a second, open mode; operations a second, paced
	Rounds     int     `json:"rounds"`
	Duration   string  `json:"duration"` // of one round
	Sample     int     `json:"sample"`   // one in so many operations is timed
	Zero       string  `json:"zero"`     // zeroing policy that every contender follows
	Quick      bool    `json:"quick"`

	Blocks      int     `json:"blocks,omitempty"`       // held at once: burst, beyond, churn, window
	Bursts      int     `json:"bursts,omitempty"`       // of a round of beyond
	Written     string  `json:"written,omitempty"`      // bytes of each block of beyond, and of mixed where it is not all
	MemoryLimit string  `json:"memory_limit,omitempty"` // GOMEMLIMIT of each round, if the command sets it
	SecondSize  string  `json:"second_size,omitempty"`  // bytes of each block that is got between two bursts of beyond
	Collections int     `json:"collections,omitempty"`  // between two bursts
	Every       string  `json:"every,omitempty"`        // from one burst to the next: churn
	IdleTimeout string  `json:"idle_timeout,omitempty"` // dewpond's, if it is not the default
	Seeds       int     `json:"seeds,omitempty"`        // of each kind of misuse
	Late        string  `json:"late,omitempty"`         // how long after Put misuse comes at most
	Limit       string  `json:"limit,omitempty"`        // bytes that flood allows to be out
	Times       float64 `json:"times,omitempty"`        // the traffic of flood, in multiples of what Limit allows
}

// Clocked reports whether operations are due by the clock, whatever the pool does.
func (s Scenario) Clocked() bool { return s.Mode == "open" || s.Mode == "paced" }

// A Contender is the figures of one pool over all rounds.
type Contender struct {
	Name   string `json:"name"`
	About  string `json:"about"` // one line: what it is, and for treiber its repairs
	Engine string `json:"engine,omitempty"`

	OpsPerSec       result.Figure             `json:"ops_per_sec"`
	Replace         *Times                    `json:"replace,omitempty"`
	Pair            *Times                    `json:"pair,omitempty"`
	Get             *Times                    `json:"get,omitempty"`
	Put             *Times                    `json:"put,omitempty"`
	Response        *Times                    `json:"response,omitempty"`
	Service         *Times                    `json:"service,omitempty"`
	Lag             *Times                    `json:"lag,omitempty"`
	Push            *Times                    `json:"push,omitempty"`
	GCPer5s         result.Figure             `json:"gc_per_5s"`
	AllocBytesPerOp result.Figure             `json:"alloc_bytes_per_op"`
	AllocsPerOp     result.Figure             `json:"allocs_per_op"`
	GCCPUShare      result.Figure             `json:"gc_cpu_share"`
	RSSPeakBytes    result.Figure             `json:"rss_peak_bytes"`
	RecorderBytes   result.Figure             `json:"recorder_bytes"`
	Figures         map[string]result.Figure  `json:"figures,omitempty"`
	Series          map[string][]result.Point `json:"series,omitempty"` // of the median round
	Ratios          map[string]result.Ratio   `json:"ratios,omitempty"` // to syncpool-class, by figure name such as "ops_per_sec" or "put_p999_ns"

	// Differences are the contender's counts minus those of syncpool-class, where syncpool-class
	// has none in some round and so there is no ratio.
	Differences map[string]result.Excess `json:"differences,omitempty"`

	// Excess is what the contender costs over the nop control, by the same names and in the
	// unit of the figure.
	Excess map[string]result.Excess `json:"excess_over_nop,omitempty"`
}

// Times are percentiles over the rounds. A percentile with too few samples beyond it is nil and
// is not printed.
type Times struct {
	P50     *result.Figure `json:"p50_ns,omitempty"`
	P99     *result.Figure `json:"p99_ns,omitempty"`
	P999    *result.Figure `json:"p999_ns,omitempty"`
	P9999   *result.Figure `json:"p9999_ns,omitempty"`
	Max     result.Figure  `json:"max_ns"`
	Samples uint64         `json:"samples"` // in all rounds together
	// Merged names the percentiles ("p9999_ns") whose median is the value of the merged
	// histogram, because single rounds had too few samples beyond them.
	Merged []string `json:"merged,omitempty"`
	// Histogram is the merge of all rounds in HdrHistogram's V2 encoding.
	Histogram []byte `json:"histogram,omitempty"`
}
