package experiments

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// latencyModel puts a published formula beside queueing theory, and both beside a simulation that
// knows neither.
var latencyModel = experiment.Experiment{
	ID:       "latency-model",
	Question: "Which model says how long a request waits for a database pool?",
	Claims: []experiment.Claim{{
		ID: "latency-model/own", Text: "at 95 % use of the database pool the mean P99 rises to 320 ms", Publication: matching, Judge: judgeModelOwn, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At("simulation", "p99_95_ns"): experiment.At("two connections", "p99_95_ns")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "latency-model/predicts", Text: "a response takes 12 ms + 8.2 ms x use / (1 - use), whatever the pool's size", Publication: matching, Judge: judgeModelPredicts, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At("simulation", ""): experiment.At("one connection", "")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "latency-model/erlang", Text: "the wait for one of several connections is that of M/M/c, by Erlang's C formula", Publication: erlang, Judge: judgeModelErlang, Reach: experiment.Reach{
			Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("simulation", ""): experiment.At("published formula", "")},
		},
	}},
	Cases: []string{"simulation", "two connections", "one connection", "Erlang C", "published formula"},
	Each:  700 * time.Millisecond,
	Run:   runLatencyModel,
	Plots: []experiment.Plot{
		{Series: "mean response", Title: "Mean response by use of 50 connections", Note: "a query takes 8 ms on average", Y: "ns", LogY: true},
		{Figure: "mean_95_ns", Title: "Mean response at 95 % use"},
		{Figure: "mean_50_ns", Title: "Mean response at 50 % use"},
	},
}

const (
	modelService = 8 * time.Millisecond
	modelSlots   = 50
)

var modelUses = []float64{0.3, 0.5, 0.7, 0.8, 0.9, 0.92, 0.95, 0.98}

// publishedModel is the database's part of the published formula, in nanoseconds: 12 ms, and the load of one
// server times 8.2 ms. At a use of 1 it divides by zero.
func publishedModel(use float64) float64 { return 12e6 + use/(1-use)*8.2e6 }

func runLatencyModel(r *experiment.Run) error {
	for _, use := range modelUses {
		slots, service := modelSlots, modelService
		switch r.Case {
		case "two connections":
			slots = 2
		case "one connection": // of the formula's own service time; its 12 ms are on the way
			slots, service = 1, 8200*time.Microsecond
		}
		q := queueing.Queue{Rate: use * float64(slots) / service.Seconds(), Service: service, Slots: slots}
		var mean float64
		switch r.Case {
		case "Erlang C":
			mean = float64(q.Mean())
		case "published formula":
			mean = publishedModel(use)
		default:
			got := queueing.Simulate(q, queueing.Exponential(service), max(r.Count(800_000), 2000), uint64(r.Round))
			mean = float64(got.Mean())
			r.Set(fmt.Sprintf("p99_%.0f_ns", 100*use), float64(got.Quantile(0.99)))
		}
		r.Point("mean response", use, mean)
		r.Set(fmt.Sprintf("mean_%.0f_ns", 100*use), mean)
	}
	return nil
}

// judgeModelOwn judges a figure that was published as measured, not as what the formula gives.
func judgeModelOwn(m experiment.Measured) experiment.Finding {
	const says = 320e6
	simulated := experiment.At("simulation", "p99_95_ns")
	if f, lacking := m.Lacking(simulated, experiment.At("published formula", "mean_95_ns")); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("a simulation of a pool of %d connections and queries of %s: the P99 is %s at 95 %%, the mean %s", modelSlots, figure.Duration(float64(modelService)), m.Text(simulated), m.Text(experiment.At("simulation", "mean_95_ns"))),
		Control: fmt.Sprintf("two connections: P99 %s; one: %s; the published formula has a mean of %s there", m.Text(experiment.At("two connections", "p99_95_ns")),
			m.Text(experiment.At("one connection", "p99_95_ns")), m.Text(experiment.At("published formula", "mean_95_ns"))),
		Do: "Ask how many connections there are: 95 % of two is a queue, 95 % of fifty hardly one.",
	}
	switch off := m.Median(simulated.Case, simulated.Figure) / says; {
	case off >= 0.5 && off <= 2:
		f.Verdict, f.Why = experiment.Reproduced, "the P99 is half to twice as long"
	case off > 2:
		f.Verdict, f.Why = experiment.DirectionOnly, "the P99 is above that"+experiment.Larger
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "a pool of fifty waits little at 95 %; what is slow there is something else"
	}
	return f
}

func judgeModelPredicts(m experiment.Measured) experiment.Finding {
	simulated, formula := experiment.At("simulation", "mean_95_ns"), experiment.At("published formula", "mean_95_ns")
	if f, lacking := m.Lacking(simulated, formula); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("at 95 %% the formula gives %s, a simulation %s", m.Text(formula), m.Text(simulated)),
		Control:  fmt.Sprintf("Erlang C %s; at 50 %% %s and %s", m.Text(experiment.At("Erlang C", "mean_95_ns")), m.Text(experiment.At("published formula", "mean_50_ns")), m.Text(experiment.At("simulation", "mean_50_ns"))),
		Do:       "Model a pool of c connections as M/M/c: one of fifty is free nearly always, where the only one is busy half of the time.",
	}
	f.Verdict, f.Why = experiment.Equal(m.Ratio(formula, simulated), 0.35)
	return f
}

func judgeModelErlang(m experiment.Measured) experiment.Finding {
	simulated, theory := experiment.At("simulation", "mean_95_ns"), experiment.At("Erlang C", "mean_95_ns")
	if f, lacking := m.Lacking(simulated, theory); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("at 95 %% a simulation gives %s", m.Text(simulated)),
		Control:  "Erlang C " + m.Text(theory),
		Do:       "Plan with dewload model, which has the formula and the simulation.",
	}
	f.Verdict, f.Why = experiment.Equal(m.Ratio(simulated, theory), 0.15)
	return f
}
