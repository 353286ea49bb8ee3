package report

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/result"
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
			b.Series = map[string][]result.Point{"idle_bytes": nil, "rss_bytes": nil}
			for s := range 20 {
				idle := []float64{16.8e6, 0, 16.8e6 * float64(20-s) / 20}[k]
				b.Series["idle_bytes"] = append(b.Series["idle_bytes"], result.Point{Seconds: float64(s), Value: idle})
				b.Series["rss_bytes"] = append(b.Series["rss_bytes"], result.Point{Seconds: float64(s), Value: jitter(40e6) + idle})
			}
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
		"open":   document(t, openScenario, open),
		"window": document(t, named("window", "closed"), window),
	}
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
