// Package advice says what to pool, with what, and what that buys.
package advice

import (
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// A Document is the answer of dewpond advise, and its JSON. Its names are a contract.
type Document struct {
	Collector Collector    `json:"collector"`
	Sites     []Site       `json:"sites"`
	Together  Together     `json:"together"`
	Pools     []pools.Seen `json:"pools,omitempty"`
	Verdict   Verdict      `json:"verdict"`
	Seconds   float64      `json:"window_seconds"`
	Rate      int64        `json:"sampled_one_in_bytes"`

	Allocation estimate.Estimate `json:"allocation_cpu_share"`
	Notes      []string          `json:"notes,omitempty"` // what could not be had

	unsure string // why it cannot be told whether something is worth a pool
}

// unfelt reports whether the collector and allocation together take so little that nobody feels it.
func (d Document) unfelt() bool {
	cpu := d.cpu()
	return cpu.Known() && cpu.High < felt
}

// worth reports whether a site that is not advised would save as much of the collector's CPU as one that is.
func (d Document) worth(minGain float64) bool {
	return slices.ContainsFunc(d.Sites, func(s Site) bool { return s.CollectorCPU.Known() && s.CollectorCPU.Mid >= minGain })
}

// cpu returns the share of the CPU that the collector and allocation take together.
func (d Document) cpu() estimate.Estimate {
	return estimate.Sum(d.Collector.CPUShare, d.Allocation)
}

// A Collector is how much the garbage collector works.
type Collector struct {
	PerSecond   estimate.Estimate `json:"collections_per_second"`
	Collections uint64            `json:"collections"` // in the window
	Forced      uint64            `json:"forced_collections"`
	CPUShare    estimate.Estimate `json:"cpu_share"`
	CPUFrom     string            `json:"cpu_share_from,omitempty"`
	Live        estimate.Estimate `json:"live_bytes"`
	Goal        estimate.Estimate `json:"goal_bytes"`
	GOGC        float64           `json:"gogc"`        // -1: off
	Limit       float64           `json:"limit_bytes"` // 0: none

	SettingKnown bool `json:"setting_known"` // else GOGC and the limit are taken to be the defaults
}

// A Site is a line that allocates.
type Site struct {
	Function       string                      `json:"function"`
	File           string                      `json:"file"`
	Line           int                         `json:"line"`
	BytesPerSecond estimate.Estimate           `json:"bytes_per_second"`
	ObjectsPerS    estimate.Estimate           `json:"objects_per_second"`
	Samples        int64                       `json:"samples"`
	Live           estimate.Estimate           `json:"live_bytes"`
	MeanLife       *estimate.Estimate          `json:"mean_life_seconds,omitempty"`
	MeanLifeBelow  float64                     `json:"mean_life_below_seconds,omitempty"`
	Sizes          map[int64]estimate.Estimate `json:"sizes"`
	Advice         string                      `json:"advice"`
	Why            string                      `json:"why"`
	Saved          estimate.Estimate           `json:"collections_saved"`   // a second
	CollectorCPU   estimate.Estimate           `json:"collector_cpu_saved"` // a share of the collector's
	AllocationCPU  estimate.Estimate           `json:"allocation_cpu_saved"`
	BreakEven      estimate.Estimate           `json:"break_even_idle_bytes"`
	Declare        string                      `json:"declare,omitempty"` // Go, to paste: the type that Options name
	Options        string                      `json:"options,omitempty"` // Go, to paste
	Stack          []string                    `json:"stack,omitempty"`   // what calls it

	key   sites.Key
	share estimate.Estimate // of the bytes
	idle  estimate.Estimate // bytes that its pool would keep
}

// Together is what the advised sites buy with each other.
type Together struct {
	Sites     []int             `json:"sites"` // by their places in Document.Sites, from 1
	PerSecond estimate.Estimate `json:"collections_per_second"`
	Idle      estimate.Estimate `json:"idle_bytes"`
}

// A Verdict is the answer in a word.
type Verdict string

// The verdicts.
const (
	Pool       Verdict = "pool"
	Nothing    Verdict = "nothing"
	Limit      Verdict = "limit" // the memory limit leaves the collector too little room
	CannotTell Verdict = "cannot tell"
)
