package experiments

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/garbage"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// gogc makes garbage at one rate, whatever GOGC does: a closed loop would make more where it is
// faster, and count more collections for that.
var gogc = experiment.Experiment{
	ID:       "gogc",
	Question: "What does GOGC change: how often, how long, how much?",
	Claims: []experiment.Claim{{
		ID: "gogc/frequency", Text: "at GOGC 50, 100 and 200 there are 12.4, 6.1 and 2.8 collections a second", Publication: matching, Judge: judgeGOGCFrequency, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("GOGC 50", ""): experiment.At("GOGC 200", "")}},
	}, {
		ID: "gogc/peak", Text: "the heap peaks at 42, 68 and 105 MB", Publication: matching, Judge: judgeGOGCPeak, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("GOGC 50", ""): experiment.At("GOGC 200", "")}},
	}, {
		ID: "gogc/pause", Text: "the pause grows with GOGC: 89, 142 and 217 µs", Publication: matching, Judge: judgeGOGCPause, Reach: experiment.Reach{
			// Nothing in this run makes pauses long: the time between two collections stands in for one.
			Timed: true, Holds: experiment.Standing{experiment.At("GOGC 200", "pause_ns"): experiment.At("GOGC 200", "between_ns"), experiment.At("GOGC 50", "pause_ns"): experiment.At("GOGC 50", "between_ns")}, Fails: experiment.Standing{experiment.At("GOGC 200", "pause_ns"): experiment.At("GOGC 50", "pause_ns")},
		},
	}, {
		ID: "gogc/lower", Text: "GOGC=30 reduces the pressure of the collector", Publication: matching, Judge: judgeGOGCLower, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("GOGC 30", ""): experiment.At("GOGC 200", ""), experiment.At("GOGC 100", ""): experiment.At("GOGC 50", "")}, Fails: experiment.Itself()},
	}},
	Cases: []string{"GOGC 30", "GOGC 50", "GOGC 100", "GOGC 200"},
	Each:  2500 * time.Millisecond,
	Run:   runGOGC,
	Plots: []experiment.Plot{
		{Figure: "collections_per_sec", Title: "Collections a second", Note: "400 MB of garbage a second beside 15 MB of small objects"},
		{Figure: "peak_bytes", Title: "Peak of the heap"},
		{Figure: "pause_ns", Title: "Mean pause"},
		{Figure: "gc_cpu_share", Title: "The collector's share of the processors' work"},
	},
}

func runGOGC(r *experiment.Run) error {
	percent, err := strconv.Atoi(r.Case[len("GOGC "):])
	if err != nil {
		return err
	}
	debug.SetGCPercent(percent)
	live := 15_000_000
	if r.Scale == experiment.Tiny {
		live /= 10
	}
	keepRecords(live)
	g := garbage.Start(400e6)
	defer g.Stop()
	w := kit.Open()
	before, peak := readPauses(), watchPeak()
	time.Sleep(max(r.Span(2500*time.Millisecond), 50*time.Millisecond))
	cycles, pause := readPauses().since(before)
	r.Set("peak_bytes", float64(peak()))
	a := w.Close()
	r.Set("collections_per_sec", cycles/a.Seconds)
	if cycles > 0 {
		r.Set("pause_ns", pause)
		r.Set("between_ns", a.Seconds*1e9/cycles)
	}
	r.Set("gc_cpu_share", a.GCCPUShare)
	return nil
}

// gogcRow formats a figure at each GOGC.
func gogcRow(m experiment.Measured, name string) string {
	s := ""
	for _, c := range []string{"GOGC 30", "GOGC 50", "GOGC 100", "GOGC 200"} {
		if v := experiment.At(c, name); m.Has(v) {
			if s != "" {
				s += ", "
			}
			s += c + " " + m.Text(v)
		}
	}
	return s
}

// judgeGOGC judges the ratio of one GOGC to another.
func judgeGOGC(m experiment.Measured, name, of, to string, claimed float64) experiment.Finding {
	a, b := experiment.At(of, name), experiment.At(to, name)
	if f, lacking := m.Lacking(a, b); lacking {
		return f
	}
	f := experiment.Finding{Measured: gogcRow(m, name), Control: "the same garbage a second at each GOGC; " + to + " is compared with " + of}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(a, b), claimed)
	return f
}

func judgeGOGCFrequency(m experiment.Measured) experiment.Finding {
	f := judgeGOGC(m, "collections_per_sec", "GOGC 50", "GOGC 200", 12.4/2.8)
	f.Do = "To halve the collections, double GOGC, or halve what is allocated."
	return f
}

func judgeGOGCPeak(m experiment.Measured) experiment.Finding {
	f := judgeGOGC(m, "peak_bytes", "GOGC 200", "GOGC 50", 105.0/42)
	f.Do = "Pay for fewer collections with memory, and bound it with GOMEMLIMIT."
	return f
}

func judgeGOGCPause(m experiment.Measured) experiment.Finding {
	f := judgeGOGC(m, "pause_ns", "GOGC 200", "GOGC 50", 217.0/89)
	f.Do = "Do not tune GOGC for pauses: the world stops for as long whatever the heap's size."
	if f.Verdict == experiment.Reproduced || f.Verdict == experiment.DirectionOnly {
		f.Do = "Here pauses grow with GOGC, in a process whose collector has much of the processors: a pause is mostly the wait until every processor has stopped. Look at yours in /sched/pauses/total/gc:seconds before you tune by it."
	}
	if share := experiment.At("GOGC 50", "gc_cpu_share"); m.Has(share) {
		f.Control += fmt.Sprintf("; the collector takes %s of the work at 50 and %s at 200", figure.Percent(m.Median(share.Case, share.Figure)), figure.Percent(m.Median("GOGC 200", share.Figure)))
	}
	return f
}

func judgeGOGCLower(m experiment.Measured) experiment.Finding {
	f := judgeGOGC(m, "collections_per_sec", "GOGC 30", "GOGC 100", 0.5)
	if f.Measured != "nothing" {
		f.Verdict, f.Why = experiment.Direction(m.Ratio(experiment.At("GOGC 30", "collections_per_sec"), experiment.At("GOGC 100", "collections_per_sec")), false)
	}
	f.Do = "Raise GOGC to have the collector work less; lower it only to save memory."
	if share := experiment.At("GOGC 30", "gc_cpu_share"); m.Has(share) {
		f.Control += fmt.Sprintf("; the collector takes %s of the work at 30 and %s at 100", figure.Percent(m.Median("GOGC 30", "gc_cpu_share")), figure.Percent(m.Median("GOGC 100", "gc_cpu_share")))
	}
	return f
}
