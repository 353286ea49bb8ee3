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
		ID: "latency-model/own", Text: "at 95 % use of the database the formula gives 320 ms, at 92 % 180 ms more", Publication: matching, Judge: judgeModelOwn(320e6),
	}, {
		ID: "latency-model/predicts", Text: "the wait grows as 1 / (1 - use) whatever the pool's size", Publication: matching, Judge: judgeModelPredicts,
	}, {
		ID: "latency-model/erlang", Text: "the wait for one of several connections is that of M/M/c, by Erlang's C formula", Publication: erlang, Judge: judgeModelErlang,
	}},
	Cases: []string{"simulation", "Erlang C", "published formula"},
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

// publishedModel is the database's part of the formula, in nanoseconds: the service time divided
// by what is left, as of one server. At a use of 1 it divides by zero.
func publishedModel(use float64) float64 { return float64(modelService) / (1 - use) }

// publishedTotal95 is what the whole formula gives at 95 %, beside the 320 ms that its table has.
const publishedTotal95 = 156e6

func runLatencyModel(r *experiment.Run) error {
	for _, use := range modelUses {
		q := queueing.Queue{Rate: use * modelSlots / modelService.Seconds(), Service: modelService, Slots: modelSlots}
		var mean float64
		switch r.Case {
		case "simulation":
			n := max(r.Count(800_000), 2000)
			mean = float64(queueing.Simulate(q, queueing.Exponential(modelService), n, uint64(r.Round)).Mean())
		case "Erlang C":
			mean = float64(q.Mean())
		default:
			mean = publishedModel(use)
		}
		r.Point("mean response", use, mean)
		r.Set(fmt.Sprintf("mean_%.0f_ns", 100*use), mean)
	}
	return nil
}

// judgeModelOwn judges the publication's figure at 95 % by its own formula first, and then by the
// simulation.
func judgeModelOwn(says float64) func(experiment.Measured) experiment.Finding {
	return func(m experiment.Measured) experiment.Finding { return judgeModelTable(m, says) }
}

func judgeModelTable(m experiment.Measured, says float64) experiment.Finding {
	simulated, formula := experiment.At("simulation", "mean_95_ns"), experiment.At("published formula", "mean_95_ns")
	if f, lacking := m.Lacking(simulated, formula); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("its own formula gives %s at 95 %%; a simulation of 50 connections %s", figure.Duration(publishedTotal95), m.Text(simulated)),
		Control:  "Erlang C " + m.Text(experiment.At("Erlang C", "mean_95_ns")),
		Do:       "Put a model's own numbers into it before you plan with it.",
	}
	if off := says / publishedTotal95; off > 1.1 || off < 0.9 {
		f.Verdict, f.Why = experiment.Impossible, fmt.Sprintf("%s are not %s, at 92 %% it gives 94 ms and not 180 more, and at 100 %% it divides by zero", figure.Duration(publishedTotal95), figure.Duration(says))
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "a simulation gives another mean"
	if off := says / m.Median(simulated.Case, simulated.Figure); off > 0.5 && off < 2 {
		f.Verdict, f.Why = experiment.Reproduced, "a simulation gives nearly the same mean"
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
	f.Verdict, f.Why = experiment.Equal(m.Ratio(formula, simulated), 0.2)
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
