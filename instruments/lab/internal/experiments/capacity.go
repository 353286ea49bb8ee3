package experiments

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/garbage"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// capacity runs requests of a known size at a known rate beside a live heap, and compares the peak
// of the heap with what two formulas say. What is alive is what the collections found: beside 400 MB
// of garbage a second some megabytes are allocated while a collection marks, and they are alive to it.
var capacity = experiment.Experiment{
	ID:       "capacity",
	Question: "How much memory does a service need: by which formula?",
	Claims: []experiment.Claim{{
		ID: "capacity/formula", Text: "allocation of a request x requests a second x latency x 1.8 to 2.5: 12.4 KiB, 1500 a second and 42 ms need 124 MB", Publication: sizing, Judge: judgeCapacityFormula(124e6), Reach: experiment.Reach{Computed: true},
	}, {
		ID: "capacity/honest", Text: "the heap grows to what is live x (1 + GOGC/100), what is in flight counted as live", Publication: gcGuide, Judge: judgeCapacityHonest, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("live 5 MB", "predicted_bytes"): experiment.At("live 5 MB", "published_bytes"), experiment.At("live 20 MB", "predicted_bytes"): experiment.At("live 20 MB", "published_bytes"), experiment.At("live 60 MB", "predicted_bytes"): experiment.At("live 60 MB", "published_bytes")}},
	}},
	Cases:  []string{"live 5 MB", "live 20 MB", "live 60 MB"},
	Rounds: 6,
	Each:   1500 * time.Millisecond,
	Run:    runCapacity,
	Plots: []experiment.Plot{
		{Figure: "peak_bytes", Title: "Peak of the heap"},
		{Figure: "published_bytes", Title: "What the published formula says", Note: "the same for each, for it knows no live heap"},
		{Figure: "predicted_bytes", Title: "What GOGC says, with what the collections found alive", Note: "requests in flight, and what was allocated while they marked, are alive to them"},
	},
}

const (
	capacityRate    = 1500.0 // a second
	capacityRequest = 12.4 * 1024
	capacityLatency = 42 * time.Millisecond
)

// livePages are the live heap of a service: objects of 1 KiB.
var livePages []*[1024]byte

func runCapacity(r *experiment.Run) error {
	megabytes, err := strconv.Atoi(r.Case[len("live ") : len(r.Case)-len(" MB")])
	if err != nil {
		return err
	}
	debug.SetGCPercent(100)
	live := megabytes * 1_000_000
	if r.Scale == experiment.Tiny {
		live /= 100
	}
	for range live / 1024 {
		livePages = append(livePages, new([1024]byte))
	}
	runtime.GC()
	resting := heapBytes()

	peak, marked := watchPeak(), watchMost(markedBytes)
	defer garbage.Start(400e6).Stop() // of the rest of the service: the collector runs
	began := time.Now()
	span := max(r.Span(1500*time.Millisecond), 50*time.Millisecond)
	var requests sync.WaitGroup
	served := 0
	for time.Since(began) < span {
		for due := int(capacityRate * time.Since(began).Seconds()); served < due; served++ {
			requests.Go(func() {
				var held [13]*[1024]byte // 13 KiB, as near as objects of 1 KiB come
				for i := range held {
					held[i] = new([1024]byte)
				}
				time.Sleep(capacityLatency)
				runtime.KeepAlive(&held)
			})
		}
		time.Sleep(500 * time.Microsecond)
	}
	most, alive := peak(), marked()
	requests.Wait()
	r.Set("peak_bytes", float64(max(most, resting)))
	r.Set("live_bytes", float64(resting))
	r.Set("published_bytes", capacityRequest*capacityRate*capacityLatency.Seconds()*2.5)
	const least = 4 << 20 // the smallest goal of the collector
	r.Set("marked_bytes", float64(alive))
	r.Set("predicted_bytes", max(least, 2*float64(alive)))
	r.Set("in_flight_bytes", queueing.InFlight(capacityRate, capacityLatency)*13*1024)
	r.Set("requests", float64(served))
	runtime.KeepAlive(livePages)
	return nil
}

// judgeCapacityFormula judges the formula first by what the publication says that it gives, and
// then by the peaks here: it must hold whatever is live.
func judgeCapacityFormula(says float64) func(experiment.Measured) experiment.Finding {
	return func(m experiment.Measured) experiment.Finding { return judgePublishedFormula(m, says) }
}

func judgePublishedFormula(m experiment.Measured, says float64) experiment.Finding {
	names := []string{"live 5 MB", "live 20 MB", "live 60 MB"}
	for _, name := range names {
		if f, lacking := m.Lacking(experiment.At(name, "peak_bytes"), experiment.At(name, "published_bytes")); lacking {
			return f
		}
	}
	peak := experiment.At("live 20 MB", "peak_bytes")
	bytes := m.Median(peak.Case, "published_bytes")
	f := experiment.Finding{
		Measured: fmt.Sprintf("with those figures the heap peaks at %s beside 5 MB of live heap, at %s beside 20 MB, at %s beside 60 MB",
			m.Text(experiment.At("live 5 MB", "peak_bytes")), m.Text(peak), m.Text(experiment.At("live 60 MB", "peak_bytes"))),
		Control: "the formula gives " + figure.ByteSize(bytes) + " for each",
		Do:      "Size memory by the live heap and GOGC; what is in flight is rate x latency x bytes of a request, and small.",
	}
	if off := says / bytes; off > 2 || off < 0.5 {
		f.Verdict, f.Why = experiment.Impossible, "its own formula gives another answer, and what is live decides"
		f.Arithmetic = fmt.Sprintf("12.4 KiB x 1500 x 0.042 s x 2.5 = %s, and not %s", figure.ByteSize(bytes), figure.ByteSize(says))
		return f
	}
	// Reproduced if it holds in every case, and not if it fails in one.
	f.Verdict = experiment.Reproduced
	for i, name := range names {
		v, why := experiment.Equal(m.Ratio(experiment.At(name, "peak_bytes"), experiment.At(name, "published_bytes")), 0.5)
		if i > 0 {
			f.Why += "; "
		}
		f.Why += name + ": " + why
		if v == experiment.NotReproduced || f.Verdict == experiment.Reproduced {
			f.Verdict = v
		}
	}
	return f
}

func judgeCapacityHonest(m experiment.Measured) experiment.Finding {
	names := []string{"live 5 MB", "live 20 MB", "live 60 MB"}
	f := experiment.Finding{Verdict: experiment.Reproduced, Do: "Expect twice what a collection finds alive at GOGC=100, and set GOMEMLIMIT above that. What is allocated while it marks is alive to it: on a busy machine that is much."}
	for i, name := range names {
		peak, predicted := experiment.At(name, "peak_bytes"), experiment.At(name, "predicted_bytes")
		if lack, lacking := m.Lacking(peak, predicted); lacking {
			return lack
		}
		if i > 0 {
			f.Measured += ", "
			f.Control += ", "
			f.Why += "; "
		}
		f.Measured += name + ": peak " + m.Text(peak)
		f.Control += name + ": predicted " + m.Text(predicted)
		v, why := experiment.Equal(m.Ratio(peak, predicted), 0.3)
		f.Why += name + ": " + why
		if v == experiment.CannotTell || v == experiment.NotReproduced && f.Verdict != experiment.CannotTell {
			f.Verdict = v
		}
	}
	return f
}
