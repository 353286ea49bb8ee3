package experiments

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/load"
)

// bufferCap gives a pool's new buffers different caps, and looks at all that this should change.
var bufferCap = experiment.Experiment{
	ID:       "buffer-cap",
	Question: "Which initial cap should the buffers of a sync.Pool have: 16, 64 or 1024?",
	Claims: []experiment.Claim{{
		ID: "buffer-cap/reuse", Text: "98.2 % are reused at cap 16, 99.6 % at 64 and 73.5 % at 1024", Publication: sizing, Judge: judgeCapReuse, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("cap 1024", ""): experiment.At("forgets two of five", "")}, Fails: experiment.Itself()},
	}, {
		ID: "buffer-cap/table", Text: "8000 connections at 1.2 million requests a second have a P99 of 4.7, 3.1 and 5.9 ms", Publication: sizing, Judge: judgeCapTable(capTable), Reach: experiment.Reach{Computed: true},
	}, {
		ID: "buffer-cap/pause", Text: "the collector pauses for 128, 42 and 217 µs at cap 16, 64 and 1024", Publication: sizing, Judge: judgeCapPause, Reach: experiment.Reach{
			// Nothing in this run makes pauses long: the answers' P99 stands in for one.
			Timed: true, Holds: experiment.Standing{experiment.At("cap 1024", "pause_ns"): experiment.At("cap 1024", "p99_ns"), experiment.At("cap 64", "pause_ns"): experiment.At("cap 64", "cold_1200_ns")}, Fails: experiment.Standing{experiment.At("cap 1024", "pause_ns"): experiment.At("cap 64", "pause_ns")},
		},
	}, {
		ID: "buffer-cap/best", Text: "64 is the best cap for JSON of 1.2 KB", Publication: sizing, Judge: judgeCapBest, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("cap 1024", "warm_1200_ns"): experiment.At("cap 1024", "cold_1200_ns")}, Fails: experiment.Standing{experiment.At("cap 1024", "warm_1200_ns"): experiment.At("cap 64", "warm_1200_ns")}},
	}, {
		ID: "buffer-cap/unfetched", Text: "at cap 1024, 41 % of what is put back is not fetched again within 3 s", Publication: sizing, Judge: judgeCapUnfetched, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("cap 1024", ""): experiment.At("forgets two of five", "")}, Fails: experiment.Itself()},
	}, {
		ID: "buffer-cap/rule", Text: "an initial cap of 1.2 to 1.5 times the typical payload saves what growing costs", Publication: sizing, Judge: judgeCapRule, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("cap 1500", "cold_1200_ns"): experiment.At("cap 64", "cold_1200_ns")}},
	}},
	Cases: []string{"times", "cap 16", "cap 64", "cap 1024", "forgets two of five", "dewpond"},
	Each:  1500 * time.Millisecond,
	Run:   runBufferCap,
	Plots: []experiment.Plot{
		{Figure: "hit_share", Title: "Gets that found a buffer", Note: "1200 B over HTTP, open loop"},
		{Figure: "p99_ns", Title: "P99 of the answers", Note: "open loop, 2000 a second"},
		{Figure: "warm_1200_ns", Title: "Write 1200 B into a buffer that was used before"},
		{Figure: "cold_1200_ns", Title: "Write 1200 B into a new buffer"},
	},
}

// A capPool hands out buffers and knows how often it had none, and how old its buffers are.
type capPool struct {
	pool                   sync.Pool
	news, gets, puts, late atomic.Int64
	old                    time.Duration
	forgets                bool // two of five that are put back
}

type agedBuffer struct {
	bytes.Buffer
	put time.Duration
}

func newCapPool(initial int, old time.Duration) *capPool {
	p := &capPool{old: old}
	p.pool.New = func() any {
		p.news.Add(1)
		b := new(agedBuffer)
		b.Buffer = *bytes.NewBuffer(make([]byte, 0, initial))
		return b
	}
	return p
}

func (p *capPool) get() *agedBuffer {
	p.gets.Add(1)
	b := p.pool.Get().(*agedBuffer)
	if b.put > 0 && kit.Now()-b.put > p.old {
		p.late.Add(1)
	}
	return b
}

func (p *capPool) give(b *agedBuffer) {
	b.Reset()
	b.put = kit.Now()
	if n := p.puts.Add(1); p.forgets && n%5 < 2 {
		return
	}
	p.pool.Put(b)
}

func runBufferCap(r *experiment.Run) error {
	payload := bytes.Repeat([]byte("x"), 8000)
	switch r.Case {
	case "times":
		return timeBufferCaps(r, payload)
	case "dewpond":
		return serveOurs(r, payload)
	}
	forgets := r.Case == "forgets two of five"
	initial := 1024
	if !forgets {
		var err error
		if initial, err = strconv.Atoi(r.Case[len("cap "):]); err != nil {
			return err
		}
	}
	span := max(r.Span(time.Second), 20*time.Millisecond)
	aged := newCapPool(initial, span/4)
	aged.forgets = forgets
	err := serve(r, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b := aged.get()
		b.Write(payload[:1200])
		w.Write(b.Bytes())
		aged.give(b)
	}), "/", load.Arrivals{Rate: 2000}, time.Second)
	gets := float64(max(aged.gets.Load(), 1))
	r.Set("hit_share", 1-float64(aged.news.Load())/gets)
	// What is put back and not fetched at all is lost to a collection, or left at the end.
	puts := float64(max(aged.puts.Load(), 1))
	never := (puts - (gets - float64(aged.news.Load()))) / puts
	r.Set("late_share", float64(aged.late.Load())/gets)
	r.Set("unfetched_share", float64(aged.late.Load())/gets+max(never, 0))
	return err
}

// timeBufferCaps writes into buffers that were used before, and into new ones.
func timeBufferCaps(r *experiment.Run, payload []byte) error {
	ours, err := dewpond.NewBytePool(dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	if err != nil {
		return err
	}
	defer ours.Close()
	for _, size := range []int{200, 1200, 8000} {
		ways := []way{{"dewpond", func(n int) {
			for range n {
				b := ours.Get(size)
				copy(b, payload)
				ours.Put(b)
			}
		}}}
		for _, initial := range []int{16, 64, 1024, 1500} {
			pool := &sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, initial)) }}
			ways = append(ways, way{"cap " + strconv.Itoa(initial), func(n int) {
				for range n {
					b := pool.Get().(*bytes.Buffer)
					b.Reset()
					b.Write(payload[:size])
					pool.Put(b)
				}
			}})
		}
		times(r, fmt.Sprintf("warm_%d_ns", size), 60*time.Millisecond, ways...)
	}
	var ways []way
	for _, initial := range []int{16, 64, 1024, 1500} {
		cold := func(n int) {
			for range n {
				b := bytes.NewBuffer(make([]byte, 0, initial))
				for i := 0; i < 1200; i += 100 { // in pieces, as an encoder writes
					b.Write(payload[i : i+100])
				}
				sinkBuffer = b
			}
		}
		name := "cap " + strconv.Itoa(initial)
		ways = append(ways, way{name, cold})
		coldBytes, objects := allocations(100, cold)
		r.SetOf(name, "cold_1200_bytes", coldBytes)
		r.SetOf(name, "cold_1200_allocs", objects)
	}
	times(r, "cold_1200_ns", 60*time.Millisecond, ways...)
	return nil
}

//lint:ignore U1000 what is assigned to it lies on the heap
var sinkBuffer *bytes.Buffer

func serveOurs(r *experiment.Run, payload []byte) error {
	pool, err := dewpond.NewBytePool(dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	if err != nil {
		return err
	}
	defer pool.Close()
	err = serve(r, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b := pool.Get(1200)
		copy(b, payload)
		w.Write(b)
		pool.Put(b)
	}), "/", load.Arrivals{Rate: 2000}, time.Second)
	r.Set("hit_share", pool.Stats().HitRate())
	return err
}

func judgeCapReuse(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("cap 64", "hit_share"), experiment.At("cap 1024", "hit_share")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: percent(m, small) + " at cap 64, " + percent(m, large) + " at cap 1024, by counting New",
		Control:  "dewpond, whose blocks have one size: " + percent(m, experiment.At("dewpond", "hit_share")),
		Do:       "Do not tune the initial cap for reuse: it has no part in it.",
	}
	switch gap := m.Median(small.Case, small.Figure) - m.Median(large.Case, large.Figure); {
	case gap > 0.13:
		f.Verdict, f.Why = experiment.Reproduced, "buffers of cap 1024 are reused less"
	case gap > 0.03:
		f.Verdict, f.Why = experiment.DirectionOnly, "buffers of cap 1024 are reused a little less"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "Get takes whatever is there and never looks at a cap"
	}
	return f
}

// A closedTable is what a publication says of a closed loop with this many users.
type closedTable struct {
	users, rate   float64
	before, after float64 // P99 in nanoseconds of the row that is best, and of the one that is compared
}

// capTable is the row of cap 64, and the P99 of that of cap 1024.
var capTable = closedTable{users: 8000, rate: 1.2e6, before: 3.1e6, after: 5.9e6}

// strained says under which condition alone the table can be true, or nothing.
func (t closedTable) strained() string {
	return experiment.Strained(t.users, t.rate, min(t.before, t.after))
}

// judgeCapTable judges a table that can be true by the P99 here: that of cap 1024 to that of 64.
func judgeCapTable(table closedTable) func(experiment.Measured) experiment.Finding {
	return func(m experiment.Measured) experiment.Finding { return judgeCapP99(m, table) }
}

func judgeCapP99(m experiment.Measured, table closedTable) experiment.Finding {
	small, large := experiment.At("cap 64", "p99_ns"), experiment.At("cap 1024", "p99_ns")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("P99 of an open loop of 2000 a second: cap 16 %s, cap 64 %s, cap 1024 %s", m.Text(experiment.At("cap 16", "p99_ns")), m.Text(small), m.Text(large)),
		Control:  "dewpond " + m.Text(experiment.At("dewpond", "p99_ns")),
		Do:       "Check a table with Little's law before you tune by it, and offer load at a rate that the service cannot slow down.",
	}
	if why := table.strained(); why != "" {
		f.Verdict, f.Why = experiment.Inconsistent, why
		return f
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(large, small), table.after/table.before)
	return f
}

func judgeCapBest(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("cap 64", "warm_1200_ns"), experiment.At("cap 1024", "warm_1200_ns")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("a warm pool writes 1200 B in %s at cap 64, in %s at cap 1024", m.Text(small), m.Text(large)),
		Control:  fmt.Sprintf("cap 16 %s, dewpond %s", m.Text(experiment.At("cap 16", small.Figure)), m.Text(experiment.At("dewpond", small.Figure))),
		Do:       "Leave the initial cap alone: a pooled buffer keeps what it has grown to.",
	}
	f.Verdict, f.Why = experiment.Direction(m.Ratio(large, small), true)
	return f
}

func judgeCapPause(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("cap 64", "pause_ns"), experiment.At("cap 1024", "pause_ns")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("cap 16 %s, cap 64 %s, cap 1024 %s", m.Text(experiment.At("cap 16", "pause_ns")), m.Text(small), m.Text(large)),
		Control:  fmt.Sprintf("dewpond %s; collections at cap 64 %s, at 1024 %s", m.Text(experiment.At("dewpond", "pause_ns")), m.Text(experiment.At("cap 64", "collections")), m.Text(experiment.At("cap 1024", "collections"))),
		Do:       "Do not look for pauses in the cap of a buffer: the world stops for as long.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(large, small), 217.0/42)
	return f
}

func judgeCapUnfetched(m experiment.Measured) experiment.Finding {
	late := experiment.At("cap 1024", "unfetched_share")
	if f, lacking := m.Lacking(late); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: figure.Percent(m.Median(late.Case, late.Figure)) + " of what is put back at cap 1024 is not fetched within a quarter of the run, or not at all",
		Control:  figure.Percent(m.Median("cap 64", late.Figure)) + " at cap 64",
		Do:       "Time what you put back before you believe in idle objects: a busy pool hands out what came last.",
	}
	switch share := m.Median(late.Case, late.Figure); {
	case share > 0.2:
		f.Verdict, f.Why = experiment.Reproduced, "much of what is put back stays there"
	case share > 0.05:
		f.Verdict, f.Why = experiment.DirectionOnly, "some of what is put back stays there"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "what is put back is fetched again at once"
	}
	return f
}

func judgeCapRule(m experiment.Measured) experiment.Finding {
	small, right := experiment.At("cap 64", "cold_1200_ns"), experiment.At("cap 1500", "cold_1200_ns")
	if f, lacking := m.Lacking(small, right); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("a new buffer takes 1200 B in pieces in %s at cap 1500, in %s at cap 64 (%s and %s allocated)", m.Text(right), m.Text(small),
			m.Text(experiment.At("cap 1500", "cold_1200_bytes")), m.Text(experiment.At("cap 64", "cold_1200_bytes"))),
		Control: fmt.Sprintf("a buffer that was used before: %s and %s", m.Text(experiment.At("cap 1500", "warm_1200_ns")), m.Text(experiment.At("cap 64", "warm_1200_ns"))),
		Do:      "Give new buffers the size of a typical body, or get a block of the right class; it matters on a miss only.",
	}
	f.Verdict, f.Why = experiment.Direction(m.Ratio(small, right), true)
	return f
}
