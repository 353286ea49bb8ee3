package report

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// scenarios are documents of everything but mixed, whose golden text is in
// text_test.go.
func scenarios(t *testing.T) map[string]result.Document {
	t.Helper()
	rng := rand.New(rand.NewPCG(30, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	var micro, burst, open, window []result.Round
	for i := range 6 {
		for k, p := range []pool{pools[0], pools[3], pools[5]} {
			r := result.Round{Contender: p.name, Round: i, Ops: 1e8, Seconds: 1, RSSPeakBytes: p.rss, RecorderBytes: 62_000}
			ns := []float64{2.1, 11.8, 7.1}[k]

			m := r
			m.Figures = map[string]float64{
				"micro_128_1g_ns": jitter(ns), "micro_128_par_ns": jitter(ns / 2),
				"micro_8192_1g_ns": jitter(ns + 1), "micro_8192_par_ns": jitter(ns/2 + 1),
			}
			if p.name == ours {
				m.Tools = syntheticTools(i)
			}
			micro = append(micro, m)

			b := r
			b.Ops = 512
			b.Figures = map[string]float64{
				"first_burst_ns": jitter(6.5e6), "second_burst_ns": jitter([]float64{0.1e6, 6.4e6, 0.12e6}[k]),
				"second_burst_misses": []float64{0, 256, 0}[k],
			}
			b.Series = syntheticSeries(jitter, k == 2, k != 1)
			burst = append(burst, b)

			o := r
			o.Ops = 60_000
			o.Figures = map[string]float64{"dropped_arrivals": float64(k)}
			o.Histograms = map[string][]byte{
				"get": lognormal(t, rng, p.get, p.tail, 20_000), "put": lognormal(t, rng, p.put, p.tail, 20_000),
				"service": lognormal(t, rng, 4*p.get, p.tail, 20_000), "response": lognormal(t, rng, 90_000, 1, 20_000),
				"lag": lognormal(t, rng, 60_000, 1, 20_000),
			}
			open = append(open, o)

			w := r
			w.Ops = 1e6
			w.GCCycles = p.gc
			w.Histograms = map[string][]byte{"push": lognormal(t, rng, 3*p.get, p.tail, 20_000)}
			window = append(window, w)
		}
	}
	named := func(name, mode string) result.Scenario {
		s := mixed
		s.Name, s.Mode = name, mode
		return s
	}
	openScenario := named("mixed", "open")
	openScenario.Rate = 60_000
	return map[string]result.Document{
		"micro":  document(t, named("micro", "closed"), micro),
		"burst":  document(t, named("burst", "closed"), burst),
		"churn":  document(t, churnScenario(), churnRounds(t, 1)),
		"open":   document(t, openScenario, open),
		"window": document(t, named("window", "closed"), window),
		"soak":   document(t, soakScenario(), soakRounds(nil, 2e6)),
	}
}

// syntheticSeries are 20 s of a pool that keeps a burst of 16.8 MB, or lets go of it;
// it can tell what it keeps where it lets go.
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

func churnScenario() result.Scenario {
	s := mixed
	s.Name, s.Mode, s.Rate, s.Goroutines, s.Sample = "churn", "paced", 200_000, 4, 1
	s.Blocks, s.Every, s.IdleTimeout, s.Live = 6000, "2s", "500ms", "134217728 B"
	return s
}

// churnRounds are six rounds in which the times of dewpond are those of
// dewpond-nodecay, times slower.
func churnRounds(t testing.TB, slower float64) []result.Round {
	t.Helper()
	rng := rand.New(rand.NewPCG(50, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	var out []result.Round
	for i := range 6 {
		for k, name := range []string{"syncpool-class", "dewpond", "dewpond-nodecay", "dewpond-offheap"} {
			r := result.Round{Contender: name, Round: i, Ops: 1_200_000, Seconds: 6, RSSPeakBytes: 60e6, RecorderBytes: 246_000, GCCycles: 5}
			factor := 1.0
			if name == ours {
				factor = slower
			}
			r.Histograms = map[string][]byte{"get": lognormal(t, rng, 40*factor, 0.5, 120_000), "put": lognormal(t, rng, 50*factor, 0.5, 120_000)}
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

func TestEveryScenario(t *testing.T) {
	for name, d := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Text(&out, d, 110); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", out.Bytes())
			page := rendered(t, d)
			if path := os.Getenv("DEWPOND_PAGE"); path != "" {
				if err := os.WriteFile(path+"."+name+".html", []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
