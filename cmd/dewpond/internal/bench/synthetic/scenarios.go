package synthetic

import (
	"math/rand/v2"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Scenarios returns a document for every scenario except mixed, whose golden text is in
// text_test.go.
func Scenarios() map[string]bench.Document {
	rng := rand.New(rand.NewPCG(30, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	var micro, burst, open, window []result.Round
	for i := range 6 {
		for k, p := range []Pool{Pools[0], Pools[3], Pools[5]} {
			r := result.Round{Contender: p.Name, Round: i, Ops: 1e8, Seconds: 1, RSSPeakBytes: p.RSS, RecorderBytes: 62_000}
			ns := []float64{2.1, 11.8, 7.1}[k]

			m := r
			m.Figures = map[string]float64{
				"micro_128_1g_ns": jitter(ns), "micro_128_par_ns": jitter(ns / 2),
				"micro_8192_1g_ns": jitter(ns + 1), "micro_8192_par_ns": jitter(ns/2 + 1),
			}
			if p.Name == bench.Ours {
				m.Tools = tools(i)
			}
			micro = append(micro, m)

			b := r
			b.Ops = 512
			b.Figures = map[string]float64{
				"second_burst_ns": jitter([]float64{0.1e6, 6.4e6, 0.12e6}[k]), "second_burst_misses": []float64{0, 256, 0}[k],
				"rss_when_idle_bytes": jitter([]float64{24e6, 8e6, 25e6}[k]),
			}
			b.Series = syntheticSeries(jitter, k == 2, k != 1)
			burst = append(burst, b)

			o := r
			o.Ops = 60_000
			o.Figures = map[string]float64{"dropped_arrivals": float64(k)}
			o.Histograms = map[string][]byte{
				"get": Lognormal(rng, p.Get, p.Tail, 20_000), "put": Lognormal(rng, p.Put, p.Tail, 20_000),
				"service": Lognormal(rng, 4*p.Get, p.Tail, 20_000), "response": Lognormal(rng, 90_000, 1, 20_000),
				"lag": Lognormal(rng, 60_000, 1, 20_000),
			}
			open = append(open, o)

			w := r
			w.Ops = 1e6
			w.GCCycles = p.GC
			w.Histograms = map[string][]byte{"push": Lognormal(rng, 3*p.Get, p.Tail, 20_000)}
			window = append(window, w)
		}
	}
	named := func(name, mode string) bench.Scenario {
		s := Mixed
		s.Name, s.Mode = name, mode
		return s
	}
	openScenario := named("mixed", "open")
	openScenario.Rate = 60_000
	bursts := named("burst", "closed")
	bursts.Mix, bursts.Goroutines, bursts.Garbage, bursts.Blocks, bursts.Collections = "65536:100", 1, "400000000 B/s", 256, 3
	return map[string]bench.Document{
		"micro":  Document(named("micro", "closed"), micro),
		"burst":  Document(bursts, burst),
		"churn":  Document(ChurnScenario(), ChurnRounds(1)),
		"open":   Document(openScenario, open),
		"beyond": Document(BeyondScenario(), BeyondRounds(0)),
		"flood":  Document(FloodScenario(), FloodRounds(0.9)),
		"misuse": Document(MisuseScenario(), MisuseRounds(64)),
		"window": Document(named("window", "closed"), window),
		"rivals": Rivals(1.5),
	}
}

// syntheticSeries returns 20 s of a pool that keeps a burst of 16.8 MB or frees it. If it frees
// the burst, it can also tell what it keeps.
func syntheticSeries(jitter func(float64) float64, decays, keeps bool) map[string][]result.Point {
	all := map[string][]result.Point{}
	for s := range 20 {
		add := func(name string, v float64) {
			all[name] = append(all[name], result.Point{Seconds: float64(s), Value: v})
		}
		use, idle := 0.0, 0.0
		switch {
		case s == 2 || s == 3:
			use = 16.8e6
		case s > 3 && decays:
			idle = max(0, 16.8e6*float64(12-s)/8)
		case s > 3 && keeps:
			idle = 16.8e6
		}
		if keeps {
			add("idle_bytes", idle)
		}
		add("in_use_bytes", use)
		add("rss_bytes", jitter(40e6)+idle+use)
		add("collections", float64(3*s))
	}
	return all
}

// ChurnScenario returns the scenario of ChurnRounds.
func ChurnScenario() bench.Scenario {
	s := Mixed
	s.Name, s.Mode, s.Rate, s.Goroutines, s.Sample = "churn", "paced", 200_000, 4, 1
	s.Blocks, s.Every, s.IdleTimeout, s.Live = 6000, "2s", "500ms", "134217728 B"
	return s
}

// ChurnRounds returns six rounds in which the times of dewpond are those of dewpond-nodecay,
// multiplied by slower.
func ChurnRounds(slower float64) []result.Round {
	rng := rand.New(rand.NewPCG(50, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	var out []result.Round
	for i := range 6 {
		for k, name := range []string{"syncpool-class", "dewpond", "dewpond-nodecay", "dewpond-offheap"} {
			r := result.Round{Contender: name, Round: i, Ops: 1_200_000, Seconds: 6, RSSPeakBytes: 60e6, RecorderBytes: 246_000, GCCycles: 5}
			factor := 1.0
			if name == bench.Ours {
				factor = slower
			}
			r.Histograms = map[string][]byte{
				"replace": Lognormal(rng, 90*factor, 0.5, 120_000),
				"get":     Lognormal(rng, 40*factor, 0.5, 120_000), "put": Lognormal(rng, 50*factor, 0.5, 120_000),
			}
			r.Figures = map[string]float64{"burst_ns": jitter([]float64{20e6, 18e6, 1e6, 15e6}[k]), "burst_return_ns": jitter(200e3)}
			if k > 0 {
				r.Figures["burst_misses"] = []float64{0, 5900, 100, 5900}[k]
			}
			r.Series = syntheticSeries(jitter, k%2 == 1, k > 0)
			out = append(out, r)
		}
	}
	return out
}

// tools returns the tools of a round, seeded: a gain, a loss, a tie, and one tool beside two
// others.
func tools(round int) []result.ToolRound {
	rng := rand.New(rand.NewPCG(uint64(round), 31))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	use := func(tool, name string, ways ...result.AlternativeRound) result.ToolRound {
		own := jitter(ways[0].Ns)
		for i := range ways {
			ways[i].Ns = jitter(ways[i].Ns)
			ways[i].Ratio = own / ways[i].Ns
		}
		ways[0].Ns, ways[0].Ratio = own, 1
		return result.ToolRound{Tool: tool, Case: name, Alternatives: ways}
	}
	tie := use("Pool", "bytes.Buffer in parallel", result.AlternativeRound{Name: "dewpond.Pool", Ns: 5}, result.AlternativeRound{Name: "sync.Pool", Ns: 5})
	tie.Alternatives[1].Ratio = []float64{0.98, 1.01, 0.99, 1.02, 1.01, 0.97}[round]
	return []result.ToolRound{
		use("Pool", "64 B struct by 1 goroutine", result.AlternativeRound{Name: "dewpond.Pool", Ns: 7}, result.AlternativeRound{Name: "sync.Pool", Ns: 9}),
		tie,
		use("Lease", "128 B by 1 goroutine", result.AlternativeRound{Name: "Lease+Release", Ns: 18}, result.AlternativeRound{Name: "Get+Put", Ns: 9}),
		use("Scope", "50 pieces of 128 B", result.AlternativeRound{Name: "dewpond.Scope", Ns: 190}, result.AlternativeRound{Name: "make", Ns: 4000, Bytes: 6400, Allocs: 50}),
		use("Buffer", "JSON mix, 4 % of 64 KB", result.AlternativeRound{Name: "dewpond.Buffer", Ns: 2200},
			result.AlternativeRound{Name: "bytes.Buffer", Ns: 9000, Bytes: 14_400, Allocs: 6.24}, result.AlternativeRound{Name: "bytebufferpool", Ns: 1100, Bytes: 0.5}),
	}
}

// ToolRounds returns n rounds of dewpond with its tools, and of the others.
func ToolRounds(n int, others ...string) []result.Round {
	var out []result.Round
	for _, name := range append([]string{bench.Ours}, others...) {
		out = append(out, Plain(name, []float64{1e8, 2e8, 3e8, 4e8, 5e8, 6e8}[:n]...)...)
	}
	for i := range n {
		out[i].Tools = tools(i)
	}
	return out
}
