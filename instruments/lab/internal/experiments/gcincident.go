package experiments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/load"
)

// gcIncident runs a handler that asks a scorer, holds a connection of a database pool and allocates its
// answer: before and after four measures, of which a pool for results is one.
var gcIncident = experiment.Experiment{
	ID:       "gc-incident",
	Question: "What do a tuned Transport, a larger database pool, GOGC=30 and a sync.Pool change together, and the pool alone?",
	Claims: []experiment.Claim{{
		ID: "gc-incident/table", Text: "3180 requests a second become 12840 with 4000 connections, at a P99 of 1820 and then 86 ms, by all four together", Publication: matching, Judge: judgeIncidentTable(incidentTable), Reach: experiment.Reach{Computed: true},
	}, {
		ID: "gc-incident/interval", Text: "after that there is a collection each 47 s, at GOGC=30 and 720 MB", Publication: matching, Judge: judgeIncidentInterval, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At("server alone", ""): experiment.At("socket alone", "")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "gc-incident/pause", Text: "by all four together the pauses of the collector fall from 112 to 4.2 ms", Publication: matching, Judge: judgeIncidentPause, Reach: incidentReach,
	}, {
		ID: "gc-incident/throughput", Text: "by all four together 3180 requests a second become 12840", Publication: matching, Judge: judgeIncidentThroughput, Reach: incidentReach,
	}, {
		ID: "gc-incident/memory", Text: "by all four together resident memory falls from 1.4 to 0.72 GB", Publication: matching, Judge: judgeIncidentMemory, Reach: incidentReach,
	}, {
		ID: "gc-incident/garbage", Text: "pools in the handler alone save half of what its answers allocate, and so collections", Publication: ours, Judge: judgeIncidentGarbage, Reach: experiment.Reach{
			Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("sync.Pool", ""): experiment.At("before", "")},
		},
	}},
	Cases: []string{"before", "sync.Pool", "dewpond", incidentAll, incidentNothing, "server alone", "socket alone"},
	Each:  2000 * time.Millisecond,
	Run:   runIncident,
	Plots: []experiment.Plot{
		{Figure: "qps_per_sec", Title: "Requests a second", Note: "200 users in a closed loop; client, scorer and service in one process"},
		{Figure: "p99_ns", Title: "P99 of the answers"},
		{Figure: "collections_10k", Title: "Collections for 10,000 requests"},
		{Figure: "rss_peak_bytes", Title: "Peak of resident memory"},
	},
}

const (
	incidentAll     = "four together"
	incidentNothing = "nothing to do"
	incidentUsers   = 200
	incidentQuery   = 20 * time.Millisecond
	incidentLive    = 150_000_000
)

// incidentReach confirms what was measured before and after by a service that has nothing to do. Where not
// even that can show the effect, the judge says so.
var incidentReach = experiment.Reach{
	Timed: true, Ceiling: true,
	Holds: experiment.Standing{experiment.At(incidentAll, ""): experiment.At(incidentNothing, "")},
	Fails: experiment.Standing{experiment.At(incidentAll, ""): experiment.At("before", ""), experiment.At(incidentNothing, ""): experiment.At("server alone", "")},
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

// incidentBody returns what writes the answer. All write the same.
func incidentBody(name string) (write http.HandlerFunc, end func()) {
	switch name {
	case "sync.Pool", incidentAll:
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
}

// incidentHandler returns the handler of a case: it asks a scorer by HTTP, holds one of the database's
// connections for a query, and answers.
func incidentHandler(name string) (http.HandlerFunc, func()) {
	hello := func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }
	if name == incidentNothing {
		return hello, func() {}
	}
	write, end := incidentBody(name)
	scorer := httptest.NewServer(http.HandlerFunc(hello))
	transport := http.DefaultTransport.(*http.Transport).Clone()
	connections := make(chan struct{}, 50)
	if name == incidentAll {
		transport.MaxIdleConns, transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = 200, 200, 90*time.Second
		connections = make(chan struct{}, 150)
	}
	client := &http.Client{Transport: transport}
	return func(w http.ResponseWriter, r *http.Request) {
			score, err := client.Get(scorer.URL)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			io.Copy(io.Discard, score.Body)
			score.Body.Close()
			connections <- struct{}{}
			time.Sleep(incidentQuery)
			<-connections
			write(w, r)
		}, func() {
			transport.CloseIdleConnections()
			scorer.Close()
			end()
		}
}

func runIncident(r *experiment.Run) error {
	switch r.Case {
	case "server alone", "socket alone":
		return aloneAllocates(r)
	case incidentAll, incidentNothing:
		debug.SetGCPercent(30)
	}
	h, end := incidentHandler(r.Case)
	defer end()
	live := incidentLive
	if r.Scale == experiment.Tiny {
		live /= 200
	}
	for range live / 1024 { // pages without pointers: the collector has little to do with them
		livePages = append(livePages, new([1024]byte))
	}
	defer runtime.KeepAlive(livePages)
	if r.Case != incidentNothing {
		write, endBody := incidentBody(r.Case)
		bytes, _ := allocations(1000, func(n int) {
			for range n {
				write(&sinkWriter{header: http.Header{}}, nil)
			}
		})
		endBody()
		r.Set("answer_alloc_bytes_per_op", bytes)
	}
	var heap kit.Heap
	before, _ := heap.Read()
	var served atomic.Int64
	err := serve(r, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h(w, q)
		served.Add(1)
	}), "/api/v1/matches?uid=1", load.Arrivals{Users: incidentUsers}, 1600*time.Millisecond)
	after, _ := heap.Read()
	n := float64(max(served.Load(), 1))
	r.Set("alloc_bytes_per_op", float64(after-before)/n)
	r.Set("collections_10k", r.Get("collections")/n*10_000)
	r.Set("rss_peak_bytes", float64(kit.PeakRSS()))
	return err
}

// aloneAllocates counts what a server that only says hello allocates, of net/http or of a bare socket. The
// client writes and reads the same bytes each time and allocates nothing.
func aloneAllocates(r *experiment.Run) error {
	question := []byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
	address := ""
	if r.Case == "server alone" {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }))
		defer server.Close()
		address = server.Listener.Addr().String()
	} else {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			asked := make([]byte, len(question))
			for {
				if _, err := io.ReadFull(c, asked); err != nil {
					return
				}
				c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
			}
		}()
		address = l.Addr().String()
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	answer := make([]byte, 4096)
	c.Write(question)
	size, err := c.Read(answer) // every answer is as long
	if err != nil {
		return err
	}
	var failed error
	b, objects := allocations(max(r.Count(4000), 100), func(n int) {
		for range n {
			c.Write(question)
			if _, err := io.ReadFull(c, answer[:size]); err != nil {
				failed = err
				return
			}
		}
	})
	r.Set("alloc_bytes_per_op", b)
	r.Set("allocs_per_op", objects)
	return failed
}

// judgeIncident compares a figure after the four measures with that before. A service that has nothing to
// do shows the most that any measure can do here.
func judgeIncident(m experiment.Measured, name string, claimed float64) experiment.Finding {
	before, after, nothing := experiment.At("before", name), experiment.At(incidentAll, name), experiment.At(incidentNothing, name)
	if f, lacking := m.Lacking(before, after); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s before, %s with all four", m.Text(before), m.Text(after)),
		Control:  fmt.Sprintf("a pool alone: sync.Pool %s, dewpond %s; a service that has nothing to do %s", m.Text(experiment.At("sync.Pool", name)), m.Text(experiment.At("dewpond", name)), m.Text(nothing)),
	}
	// Closed loops must obey Little's law, or the client has miscounted.
	for _, c := range []string{"before", incidentAll} {
		if v := experiment.At(c, "little_holds"); m.Has(v) && m.Median(c, "little_holds") == 0 {
			f.Verdict, f.Why = experiment.Inconsistent, "by Little's law the figures here do not fit together, unless the client has miscounted: "+c
			return f
		}
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(after, before), claimed)
	if f.Verdict == experiment.Reproduced || !m.Has(nothing) {
		return f
	}
	if most := m.Ratio(nothing, before); math.Log(most.Median)/math.Log(claimed) < 0.5 {
		f.Verdict, f.Why = experiment.CannotTell, fmt.Sprintf("the control allows no more than %.2fx, which a service that has nothing to do shows: half of the effect of %sx would be above that", most.Median, figure.Significant(claimed))
	}
	return f
}

// incidentTable is the row after the change, and the P99 before it.
var incidentTable = closedTable{users: 4000, rate: 12840, before: 1820e6, after: 86e6}

// judgeIncidentTable judges a table by its own figures first, and one that they allow by the P99 here.
func judgeIncidentTable(table closedTable) func(experiment.Measured) experiment.Finding {
	return func(m experiment.Measured) experiment.Finding {
		f := judgeIncident(m, "p99_ns", table.after/table.before)
		f.Do = "Check tables of closed loops with Little's law: users = rate x mean."
		if why := table.strained(); why != "" && f.Measured != "nothing" {
			f.Verdict, f.Why = experiment.Inconsistent, why
		}
		return f
	}
}

func judgeIncidentInterval(m experiment.Measured) experiment.Finding {
	server := experiment.At("server alone", "alloc_bytes_per_op")
	if f, lacking := m.Lacking(server); lacking {
		return f
	}
	const heap, percent, rate, interval = 720e6, 30.0, 12840.0, 47.0
	room := heap * percent / (100 + percent) / rate / interval
	f := experiment.Finding{
		Measured: fmt.Sprintf("a server of net/http that only says hello allocates %s for each request, its client nothing", m.Text(server)),
		Control:  fmt.Sprintf("a collection each 47 s at GOGC=30 and 720 MB leaves %s for each of 12840 requests a second; a bare socket allocates %s", figure.ByteSize(room), m.Text(experiment.At("socket alone", server.Figure))),
		Do:       "Compute the bytes for each request from heap, GOGC and interval, and compare them with a profile.",
	}
	if m.Median(server.Case, server.Figure) > room {
		f.Verdict, f.Why = experiment.NotReproduced, "the server alone allocates more than that"
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
	f.Do = "Find what requests wait for first: here it is the database's connections. A pool for results alone changes little; go run ./instruments/lab compare has each measure alone, on real servers."
	return f
}

func judgeIncidentMemory(m experiment.Measured) experiment.Finding {
	f := judgeIncident(m, "rss_peak_bytes", 0.72/1.4)
	f.Do = "To lower resident memory, lower what is live or GOGC; pools keep memory."
	return f
}

func judgeIncidentGarbage(m experiment.Measured) experiment.Finding {
	before, pooled := experiment.At("before", "answer_alloc_bytes_per_op"), experiment.At("sync.Pool", "answer_alloc_bytes_per_op")
	if f, lacking := m.Lacking(before, pooled); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s are allocated for each answer before, %s with sync.Pool", m.Text(before), m.Text(pooled)),
		Control:  fmt.Sprintf("dewpond %s; collections for 10,000 requests: %s before, %s with sync.Pool", m.Text(experiment.At("dewpond", before.Figure)), m.Text(experiment.At("before", "collections_10k")), m.Text(experiment.At("sync.Pool", "collections_10k"))),
		Do:       "Pool what a handler allocates most: at the same heap half of the garbage is half of the collections, as with GOGC doubled.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(pooled, before), 0.5)
	if strings.HasSuffix(f.Why, experiment.Larger) {
		f.Verdict = experiment.Reproduced // half at least
	}
	return f
}
