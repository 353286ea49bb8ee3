package experiments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/load"
)

// gcIncident runs a handler that allocates much, before and after it has pools.
var gcIncident = experiment.Experiment{
	ID:       "gc-incident",
	Question: "What do pools change in a handler that allocates much?",
	Claims: []experiment.Claim{{
		ID: "gc-incident/table", Text: "3180 requests a second become 12840 with 4000 connections, at a P99 of 1820 and then 86 ms", Publication: matching, Judge: judgeIncidentTable(incidentTable),
	}, {
		ID: "gc-incident/interval", Text: "after that there is a collection each 47 s, at GOGC=30 and 720 MB", Publication: matching, Judge: judgeIncidentInterval,
	}, {
		ID: "gc-incident/pause", Text: "the pauses of the collector fall from 112 to 4.2 ms", Publication: matching, Judge: judgeIncidentPause,
	}, {
		ID: "gc-incident/throughput", Text: "pools in the handler make the service four times as fast", Publication: matching, Judge: judgeIncidentThroughput,
	}, {
		ID: "gc-incident/memory", Text: "resident memory halves, from 1.4 to 0.72 GB", Publication: matching, Judge: judgeIncidentMemory,
	}, {
		ID: "gc-incident/garbage", Text: "pools in the handler halve its collections", Publication: matching, Judge: judgeIncidentGarbage,
	}},
	Cases: []string{"before", "sync.Pool", "dewpond", "hello"},
	Each:  2200 * time.Millisecond,
	Run:   runIncident,
	Plots: []experiment.Plot{
		{Figure: "qps_per_sec", Title: "Requests a second", Note: "32 users in a closed loop, client and service in one process"},
		{Figure: "p99_ns", Title: "P99 of the answers"},
		{Figure: "collections_10k", Title: "Collections for 10,000 requests"},
		{Figure: "rss_peak_bytes", Title: "Peak of resident memory"},
	},
}

// A match is one of the answers of the service.
type match struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Tags   []string `json:"tags"`
	Scores []int    `json:"scores"`
}

const matches = 50

func (m *match) fill(i int) {
	m.ID, m.Name = i, "somebody"
	m.Tags = append(m.Tags[:0], "music", "travel", "films")
	m.Scores = append(m.Scores[:0], i, 2*i, 3*i, 4*i)
}

// incidentHandler returns the handler of a case. All answer the same, but for hello.
func incidentHandler(name string) (http.HandlerFunc, func()) {
	switch name {
	case "before":
		return func(w http.ResponseWriter, _ *http.Request) {
			var all []*match
			for i := range matches {
				m := new(match)
				m.fill(i)
				all = append(all, m)
			}
			body, _ := json.Marshal(all)
			w.Write(body)
		}, func() {}
	case "sync.Pool":
		answers := &sync.Pool{New: func() any { all := make([]match, matches); return &all }}
		buffers := &sync.Pool{New: func() any { return new(bytes.Buffer) }}
		return func(w http.ResponseWriter, _ *http.Request) {
			all := answers.Get().(*[]match)
			for i := range *all {
				(*all)[i].fill(i)
			}
			b := buffers.Get().(*bytes.Buffer)
			b.Reset()
			json.NewEncoder(b).Encode(*all)
			w.Write(b.Bytes())
			buffers.Put(b)
			answers.Put(all)
		}, func() {}
	case "dewpond":
		answers := dewpond.MustPool(dewpond.PoolOptions[[matches]match]{Reset: func(*[matches]match) {}})
		bodies := new(dewpond.BytePool)
		return func(w http.ResponseWriter, _ *http.Request) {
			all := answers.Get()
			for i := range all {
				all[i].fill(i)
			}
			b := bodies.Buffer()
			json.NewEncoder(b).Encode(all[:])
			w.Write(b.Bytes())
			b.Release()
			answers.Put(all)
		}, func() { answers.Close(); bodies.Close() }
	}
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }, func() {}
}

func runIncident(r *experiment.Run) error {
	h, end := incidentHandler(r.Case)
	defer end()
	keepRecords(r.Count(20_000_000))
	var heap kit.Heap
	before, _ := heap.Read()
	var served int
	var mu sync.Mutex
	err := serve(r, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h(w, q)
		mu.Lock()
		served++
		mu.Unlock()
	}), "/api/v1/matches?uid=1", load.Arrivals{Users: 32}, 1600*time.Millisecond)
	after, _ := heap.Read()
	r.Set("alloc_bytes_per_op", float64(after-before)/float64(max(served, 1)))
	r.Set("collections_10k", r.Get("collections")/float64(max(served, 1))*10_000)
	r.Set("rss_peak_bytes", float64(kit.PeakRSS()))
	return err
}

// judgeIncident compares a figure with pools and without.
func judgeIncident(m experiment.Measured, name string, claimed float64) experiment.Finding {
	before, after := experiment.At("before", name), experiment.At("sync.Pool", name)
	if f, lacking := m.Lacking(before, after); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s before, %s with sync.Pool", m.Text(before), m.Text(after)),
		Control:  fmt.Sprintf("dewpond %s; a handler that does nothing %s", m.Text(experiment.At("dewpond", name)), m.Text(experiment.At("hello", name))),
	}
	// Closed loops must obey Little's law, or the client has miscounted.
	for _, c := range []string{"before", "sync.Pool"} {
		if v := experiment.At(c, "little_holds"); m.Has(v) && m.Median(c, "little_holds") == 0 {
			f.Verdict, f.Why = experiment.CannotTell, "the figures here contradict Little's law, so the client has spoiled them"
			return f
		}
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(after, before), claimed)
	return f
}

// incidentTable is the row after the change, and the P99 before it.
var incidentTable = closedTable{users: 4000, rate: 12840, before: 1820e6, after: 86e6}

// judgeIncidentTable judges a table that can be true by the P99 here.
func judgeIncidentTable(table closedTable) func(experiment.Measured) experiment.Finding {
	return func(m experiment.Measured) experiment.Finding {
		f := judgeIncident(m, "p99_ns", table.after/table.before)
		f.Do = "Check tables of closed loops with Little's law: users = rate x mean."
		if why := table.contradiction(); why != "" && f.Measured != "nothing" {
			f.Verdict, f.Why = experiment.Impossible, why
		}
		return f
	}
}

func judgeIncidentInterval(m experiment.Measured) experiment.Finding {
	hello := experiment.At("hello", "alloc_bytes_per_op")
	if f, lacking := m.Lacking(hello); lacking {
		return f
	}
	const heap, percent, rate, interval = 720e6, 30.0, 12840.0, 47.0
	room := heap * percent / (100 + percent) / rate / interval
	f := experiment.Finding{
		Measured: "a handler that only says hello allocates " + m.Text(hello) + " for each request, client included",
		Control:  fmt.Sprintf("a collection each 47 s at GOGC=30 and 720 MB leaves %s for each of 12840 requests a second", figure.ByteSize(room)),
		Do:       "Compute the bytes for each request from heap, GOGC and interval, and compare them with a profile.",
	}
	if m.Median(hello.Case, hello.Figure) > room {
		f.Verdict, f.Why = experiment.Impossible, "net/http alone allocates more than that"
		return f
	}
	f.Verdict, f.Why = experiment.Reproduced, "a request can do with so little"
	return f
}

func judgeIncidentPause(m experiment.Measured) experiment.Finding {
	f := judgeIncident(m, "pause_ns", 4.2/112)
	f.Do = "Pools make collections rarer, not shorter: read /sched/pauses/total/gc:seconds before you blame a pause."
	return f
}

func judgeIncidentThroughput(m experiment.Measured) experiment.Finding {
	f := judgeIncident(m, "qps_per_sec", 12840.0/3180)
	f.Do = "Expect a few parts in a hundred of throughput from pools in a handler; profile what else takes the time."
	return f
}

func judgeIncidentMemory(m experiment.Measured) experiment.Finding {
	f := judgeIncident(m, "rss_peak_bytes", 0.72/1.4)
	f.Do = "To lower resident memory, lower what is live or GOGC; pools keep memory."
	return f
}

func judgeIncidentGarbage(m experiment.Measured) experiment.Finding {
	f := judgeIncident(m, "collections_10k", 0.5)
	f.Do = "Pool what a handler allocates most: half of the garbage is half of the collections, as with GOGC doubled, at the same heap."
	return f
}
