// Package comparison makes a report of what compare has measured: rounds of variants become rows,
// with ratios to the first variant, and words.
package comparison

import (
	"time"

	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/queueing"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// Schema is the version of Report's JSON.
const Schema = 1

// A Round is one variant, measured once: in a closed loop, and then at the rate of all.
type Round struct {
	Variant      string
	Closed, Open load.Result
	// While the loop was closed, and while it was open.
	InClosed, InOpen account.Window
	// Shares of all processors while the loop was open; -1 where the system does not say.
	ServiceCPU, BackendsCPU float64
}

// A Report is all that was measured.
type Report struct {
	Schema      int                `json:"schema"`
	Environment result.Environment `json:"environment"`
	Backends    string             `json:"backends"` // stand-in, or which servers
	StandIn     bool               `json:"stand_in"`
	Users       int                `json:"users"`          // of the closed loop
	Rate        float64            `json:"rate"`           // of the open one, a second
	Connections int                `json:"db_connections"` // that the pool model gives
	Rounds      int                `json:"rounds"`
	Rows        []Row              `json:"rows"`
	// Controls are ratios of a variant to its control.
	Controls []Control `json:"controls"`
	Words    []string  `json:"words"`
}

// A Control is a variant beside its control.
type Control struct {
	Variant string                  `json:"variant"`
	Control string                  `json:"control"`
	Ratios  map[string]result.Ratio `json:"ratios"`
}

// A Row is one variant over all rounds: medians, with their intervals.
type Row struct {
	Variant string `json:"variant"`
	About   string `json:"about"`

	Throughput result.Excess `json:"throughput"` // a second, of the closed loop
	Little     Little        `json:"little"`
	Response   Response      `json:"response"` // at the rate of all

	ScorerConnections float64 `json:"scorer_connections_per_request"`
	DB                DB      `json:"db_connections"`

	GCPer10k    float64 `json:"gc_per_10k"`
	GCShare     float64 `json:"gc_cpu_share"`
	StopMean    float64 `json:"stop_the_world_mean_ns"`
	StopLongest float64 `json:"stop_the_world_longest_ns"`
	Allocs      float64 `json:"allocs_per_request"`
	Bytes       float64 `json:"bytes_per_request"`
	RSS         float64 `json:"rss_peak_bytes"`

	// Ratios to the first variant, paired by rounds.
	Ratios map[string]result.Ratio `json:"ratios,omitempty"`

	CPU CPU      `json:"cpu"`
	Lag *float64 `json:"generator_lag_p99_ns,omitempty"` // nil if there are too few samples
	Why []string `json:"not_valid,omitempty"`
}

// A Little is Little's law held against the closed loop: as many users as rate and mean say.
type Little struct {
	Users float64 `json:"users"`
	Says  float64 `json:"says"` // rate times mean
	Rate  float64 `json:"rate"` // a second, over all rounds
	Mean  float64 `json:"mean_ns"`
	Holds bool    `json:"holds"`
}

// A Response is from the intended start to the end, over all rounds.
type Response struct {
	P50      *float64 `json:"p50_ns"`
	P99      *float64 `json:"p99_ns"`
	P999     *float64 `json:"p999_ns"`
	Requests uint64   `json:"requests"`
	Errors   uint64   `json:"errors"`
}

// A DB is what the pool of connections to the database did in the closed loop.
type DB struct {
	Made   float64 `json:"made_per_request"`
	Waited float64 `json:"waited_per_request"`
}

// A CPU is the shares of all processors in the open loop; -1 where it is not known.
type CPU struct {
	Service   float64 `json:"service"`
	Backends  float64 `json:"backends"`
	Generator float64 `json:"generator"`
}

// A figure is one that ratios are of.
type figure struct {
	name, label  string
	moreIsBetter bool
	of           func(r Round) float64
}

var figures = []figure{
	{"throughput", "throughput", true, func(r Round) float64 { return rate(r.Closed) }},
	{"p50_ns", "P50", false, func(r Round) float64 { return value(r.Open.Session.Response.P50) }},
	{"p99_ns", "P99", false, func(r Round) float64 { return value(r.Open.Session.Response.P99) }},
	{"scorer_connections_per_request", "new scorer connections", false, func(r Round) float64 {
		return per(r.InClosed.NewConns, r.InClosed.ScorerRequests)
	}},
	{"gc_per_10k", "collections", false, func(r Round) float64 { return 1e4 * perRequest(r, func(w account.Window) uint64 { return w.Cycles }) }},
	{"gc_cpu_share", "collector's share", false, func(r Round) float64 { return r.InClosed.GCShare }},
	{"allocs_per_request", "allocations", false, func(r Round) float64 { return perRequest(r, func(w account.Window) uint64 { return w.Allocs }) }},
	{"bytes_per_request", "bytes", false, func(r Round) float64 { return perRequest(r, func(w account.Window) uint64 { return w.Bytes }) }},
	{"rss_peak_bytes", "peak RSS", false, func(r Round) float64 { return float64(r.InOpen.PeakRSS) }},
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func rate(r load.Result) float64 {
	if r.Seconds == 0 {
		return 0
	}
	return float64(r.Finished) / r.Seconds
}

func per(n, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// perRequest is of both loops, their warm-up included.
func perRequest(r Round, of func(account.Window) uint64) float64 {
	return per(of(r.InClosed)+of(r.InOpen), r.InClosed.Requests+r.InOpen.Requests)
}

// Rows makes rows of rounds, in the order of the variants. Rounds of a variant are in the order
// in which they were measured: those at one place are pairs.
func Rows(variants []variant.Variant, rounds []Round, users int) []Row {
	by := byVariant(rounds)
	var rows []Row
	for _, v := range variants {
		all := by[v.Name]
		if len(all) == 0 {
			continue
		}
		row := Row{Variant: v.Name, About: v.About, Throughput: summary.Interval(values(all, figures[0].of))}
		var open, closed []load.Result
		var made, waited, asked int64
		var stops uint64
		var stopped float64
		row.CPU = CPU{-1, -1, -1}
		for _, r := range all {
			open, closed = append(open, r.Open), append(closed, r.Closed)
			made, waited, asked = made+r.InClosed.Store.Made, waited+r.InClosed.Store.Waited, asked+int64(r.InClosed.Requests)
			for _, w := range []account.Window{r.InClosed, r.InOpen} {
				stops += w.Stops
				stopped += float64(w.StopMean) * float64(w.Stops)
				row.StopLongest = max(row.StopLongest, float64(w.StopLongest))
			}
			row.Why = append(row.Why, r.Open.Why...)
			row.RSS = max(row.RSS, float64(r.InOpen.PeakRSS))
		}
		if asked > 0 {
			row.DB = DB{float64(made) / float64(asked), float64(waited) / float64(asked)}
		}
		if stops > 0 {
			row.StopMean = stopped / float64(stops)
		}
		median := func(of func(Round) float64) float64 { return quantile.Median(values(all, of)) }
		row.ScorerConnections, row.GCPer10k, row.GCShare = median(figures[3].of), median(figures[4].of), median(figures[5].of)
		row.Allocs, row.Bytes = median(figures[6].of), median(figures[7].of)
		row.CPU = CPU{
			median(func(r Round) float64 { return r.ServiceCPU }), median(func(r Round) float64 { return r.BackendsCPU }),
			median(func(r Round) float64 { return r.Open.Generator.CPUShare }),
		}
		row.Response = response(open)
		merged := load.Merge(closed...)
		row.Response.Errors += merged.Failed
		row.Lag = load.Merge(open...).Session.Lag.P99
		row.Little = little(users, closed, merged.Session.Response.Mean)
		if v.Name != variants[0].Name {
			row.Ratios = ratios(all, by[variants[0].Name])
		}
		rows = append(rows, row)
	}
	return rows
}

// little holds the law against all rounds together: what they finished in all their seconds, and
// the mean of all that. A median of rounds that differ, such as of a pool that is near its bound,
// is not of the same time as their mean.
func little(users int, closed []load.Result, mean float64) Little {
	var finished, seconds float64
	for _, r := range closed {
		finished, seconds = finished+float64(r.Finished), seconds+r.Seconds
	}
	l := Little{Users: float64(users), Rate: finished / seconds, Mean: mean}
	l.Says = l.Rate * l.Mean / 1e9
	l.Holds = l.Says > 0.9*l.Users && l.Says < 1.1*l.Users
	return l
}

func response(open []load.Result) Response {
	all := load.Merge(open...)
	t := all.Session.Response
	return Response{P50: t.P50, P99: t.P99, P999: t.P999, Requests: all.Offered, Errors: all.Failed + all.Dropped}
}

func byVariant(rounds []Round) map[string][]Round {
	by := map[string][]Round{}
	for _, r := range rounds {
		by[r.Variant] = append(by[r.Variant], r)
	}
	return by
}

func values(rounds []Round, of func(Round) float64) []float64 {
	v := make([]float64, len(rounds))
	for i, r := range rounds {
		v[i] = of(r)
	}
	return v
}

// ratios compare rounds with those of another variant, pair by pair.
func ratios(of, to []Round) map[string]result.Ratio {
	out := map[string]result.Ratio{}
	for _, f := range figures {
		var quotients []float64
		for i := range min(len(of), len(to)) {
			if a, b := f.of(of[i]), f.of(to[i]); a > 0 && b > 0 {
				quotients = append(quotients, a/b)
			}
		}
		if len(quotients) > 0 && len(quotients) == min(len(of), len(to)) {
			out[f.name] = result.Ratio(summary.Interval(quotients))
		}
	}
	return out
}

// Controls compare the variants that have a control of their own with it.
func Controls(rounds []Round) []Control {
	by := byVariant(rounds)
	var out []Control
	for _, pair := range [][2]string{{variant.Again, variant.Before}, {variant.Pools, variant.SyncPool}, {variant.All, variant.AllButPools}, {variant.All, variant.AsPublished}} {
		if len(by[pair[0]]) > 0 && len(by[pair[1]]) > 0 {
			out = append(out, Control{pair[0], pair[1], ratios(by[pair[0]], by[pair[1]])})
		}
	}
	return out
}

// The row that [experiment.MatchMaking] prints of the service after all of its measures; before them it
// has 3180 requests a second.
const (
	PublishedUsers = 4000
	PublishedRate  = 12_840
	PublishedP99   = 86 * time.Millisecond
)

// Published is the sentence that says what that row would take to be true.
func Published() string {
	const mean = float64(PublishedUsers) / PublishedRate * 1e3
	text := experiment.MatchMaking.String() + ", has the row: 4000 connections, 12,840 requests a second, P99 86 ms, a collection every 47 s. "
	if !queueing.Little(PublishedUsers, PublishedRate, PublishedP99, 0.05) {
		text += "By Little's law 4000 / 12,840 per second is a mean of " + whole(mean) + " ms, above its own P99 of 86: inconsistent, unless the slowest hundredth takes 22.6 s in the mean, or fewer users were served. " +
			"A collection every 47 s, at GOGC=30 and 720 MB, would leave 275 bytes for each request."
	}
	return text
}
