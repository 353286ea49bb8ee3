// Package settings says what other values of GOGC and GOMEMLIMIT would make of a process.
package settings

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// A Document is the answer of dewpond advise settings, and its JSON. Its names are a contract.
type Document struct {
	From      string    `json:"from"` // what was read
	Seconds   float64   `json:"window_seconds"`
	Broken    int64     `json:"broken_lines"` // of a gctrace
	Collector Collector `json:"collector"`

	PerRequest estimate.Estimate `json:"collections_per_request"`
	Rows       []pacer.Row       `json:"rows"`
	Near       estimate.Estimate `json:"live_share_of_limit"`
	Verdict    Verdict           `json:"verdict"`
	Advice     []string          `json:"advice"`
	Processors int               `json:"gomaxprocs"` // 0: not known
}

// A Collector is how much the garbage collector works now.
type Collector struct {
	PerSecond   estimate.Estimate `json:"collections_per_second"`
	Collections int64             `json:"collections"` // in the window
	Forced      int64             `json:"forced_collections"`
	CPU         estimate.Estimate `json:"cpu"` // processor seconds a second
	CPUShare    estimate.Estimate `json:"cpu_share"`
	Live        estimate.Estimate `json:"live_bytes"`
	Goal        estimate.Estimate `json:"goal_bytes"`
	GOGC        int64             `json:"gogc"`          // -1: off
	Limit       int64             `json:"limit_bytes"`   // 0: none
	Known       bool              `json:"setting_known"` // and not taken from how the goal follows what lives
}

// A Verdict is the answer in a word.
type Verdict string

// The verdicts.
const (
	Limit      Verdict = "limit"       // what lives is too near to the memory limit
	More       Verdict = "settings"    // a larger GOGC, or a limit without GOGC, buys something
	Nothing    Verdict = "nothing"     // no setting would save what was asked for, or what could be felt
	CannotTell Verdict = "cannot tell" // too few collections, or what the collector takes of the CPU is not known, or GOGC
)

// The thresholds of the verdicts.
const (
	nearLimit = 0.7  // of the limit: from there on the room above what lives shrinks faster than the collector's work grows
	felt      = 0.02 // of the CPU used: what the collector takes below that nobody feels
)

// Ask is what the user wants to know.
type Ask struct {
	Requests float64 // a second; 0 if the user has not said
	GOGC     bool    // whether the user has said what GOGC is
	Limit    int64   // the limit that the row with GOGC=off has; 0 for the process's own, or else twice its peak
	MinGain  float64 // a part of the collector's CPU: a setting that saves less is not advised
}

// Make makes the answer.
func Make(w *pacer.Window, broken int64, ask Ask) Document {
	d := Document{From: w.From, Seconds: w.Seconds, Broken: broken, Processors: w.Procs, Collector: Collector{
		Collections: w.Collections, Forced: w.Forced, Live: w.Live(), Goal: w.Goal,
		GOGC: w.Setting.GOGC, Limit: w.Setting.Limit, Known: w.Known,
	}}
	now := w.Foretell(w.Setting)
	d.Collector.PerSecond, d.Collector.CPU = now.Collections, w.Collector.Scaled(1/w.Seconds)
	d.Collector.CPUShare = w.Collector.Over(w.Used)
	if w.Used.Known() && w.Used.Mid == 0 {
		d.Collector.CPUShare = estimate.CannotTell("the processor time of the process has not grown in the window: collect for longer")
	}
	d.PerRequest = estimate.CannotTell("give the requests a second, as in --rate 1500")
	if ask.Requests > 0 {
		d.PerRequest = d.Collector.PerSecond.Scaled(1 / ask.Requests)
	}
	limit := ask.Limit
	if limit == 0 {
		limit = w.Setting.Limit
	}
	if limit == 0 {
		limit = int64(2 * (now.Peak.Mid + w.Outside.Mid))
	}
	for _, s := range w.Settings(limit) {
		d.Rows = append(d.Rows, w.Foretell(s))
	}
	d.Near = estimate.CannotTell("there is no memory limit")
	if w.Setting.Limit > 0 {
		d.Near = w.Near(w.Setting.Limit)
	}
	d.judge(now, ask.MinGain, w.Known || ask.GOGC)
	return d
}

// judge gives the verdict, and what to do. Of a GOGC that is only guessed no other is advised: it may be the
// one that the process has.
func (d *Document) judge(now pacer.Row, gain float64, known bool) {
	switch {
	case d.Near.Known() && d.Near.Mid >= nearLimit:
		d.Verdict = Limit
		d.Advice = []string{
			fmt.Sprintf("What lives takes %s of the memory limit: the collector will take up to half of the CPU before memory runs out.", d.Near.Text(figure.Percent)),
			"In this order: a larger limit; fewer idle bytes (MaxIdleBytes and IdleTimeout of pools, smaller caches); refuse work while memory is scarce (pressure.Watch).",
			"Where none of that can be, a floor of 1.25 x live for the limit does with fewer collections, and lets the process grow past its limit: examples/gcfloor, and docs/tuning.md for what it costs.",
		}
	case !now.Collections.Known():
		d.Verdict = CannotTell
		d.Advice = []string{"The collections are too few for figures: collect for longer, such as --seconds 120."}
	case !d.Collector.CPUShare.Known() || !known && d.Collector.CPUShare.High >= felt:
		d.Verdict = CannotTell
		if share := d.Collector.CPUShare; !share.Known() {
			d.Advice = append(d.Advice, "Whether another setting could be felt cannot be told: "+share.Why+".")
		}
		if !known {
			d.Advice = append(d.Advice, "GOGC is not known: give --gogc, such as 100, which is Go's own where nobody sets it.")
		}
	case d.Collector.CPUShare.High < felt:
		d.Verdict = Nothing
		d.Advice = []string{fmt.Sprintf("Other settings would buy nothing that you could feel: the collector takes %s of the CPU used.", d.Collector.CPUShare.Text(figure.Percent))}
	default:
		d.Verdict = More
		if advice := d.more(now, gain); advice != "" {
			d.Advice = append(d.Advice, advice)
		} else {
			d.Verdict = Nothing
			d.Advice = append(d.Advice, fmt.Sprintf("None of these settings would save %s of the collector's CPU or more.", figure.Percent(gain)))
		}
		d.Advice = append(d.Advice, "A collection costs what there is to mark, whatever the setting: the setting says how many there are.")
	}
}

// more says what the next larger GOGC, or limit without GOGC, would buy that saves so much of the collector's
// CPU, and for how much memory. It is empty if none does. The collector's CPU falls as the collections do.
func (d *Document) more(now pacer.Row, gain float64) string {
	for _, row := range d.Rows {
		if !larger(row, now) || !row.Collections.Known() || row.Collections.High >= now.Collections.Mid || row.Collections.Mid > (1-gain)*now.Collections.Mid {
			continue
		}
		text := fmt.Sprintf("%s would have %s collections a second instead of %s, with a heap of up to %s instead of %s.",
			Name(row), row.Collections.Text(perSecond), perSecond(now.Collections.Mid), row.Peak.Text(figure.ByteSize), figure.ByteSize(now.Peak.Mid))
		if row.GOGC >= 0 {
			text += " A GOMEMLIMIT bounds that where the memory is needed at times."
		}
		return text
	}
	return ""
}

// larger reports whether a row gives the heap more room by one of the settings, and as much by the other.
func larger(row, now pacer.Row) bool {
	if now.GOGC < 0 {
		return row.GOGC < 0 && row.Limit > now.Limit
	}
	return row.GOGC > now.GOGC && row.Limit == now.Limit
}
