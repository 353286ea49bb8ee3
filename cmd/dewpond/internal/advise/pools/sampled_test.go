package pools

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// values writes histograms of sizes and times, as Prometheus's text and as expvar.
func values(pool, metric string, bounds []float64, of []float64) (text, vars string) {
	var t, v strings.Builder
	for _, bound := range append(slices.Clone(bounds), math.Inf(1)) {
		n := 0
		for _, x := range of {
			if x <= bound {
				n++
			}
		}
		fmt.Fprintf(&t, "dewpond_%s_bucket{pool=%q,le=\"%v\"} %d\n", metric, pool, bound, n)
		fmt.Fprintf(&v, "\"%v\": %d,", bound, n)
	}
	fmt.Fprintf(&t, "dewpond_%s_sum{pool=%q} 5\ndewpond_%[1]s_count{pool=%[2]q} %d\n", metric, pool, len(of))
	return t.String(), fmt.Sprintf("%q: {%s}", metric, strings.TrimSuffix(v.String(), ","))
}

func page(t *testing.T, text string) *Page {
	t.Helper()
	p, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Of a pool in checked mode there are quantiles of the window, and the class that holds nine of ten sizes. Both pages
// say the same. A later page may have more bounds.
func TestSampled(t *testing.T) {
	bounds := []float64{512, 640, 768, 896, 1024, 1280}
	old := slices.Repeat([]float64{500}, 1000)
	now := slices.Concat(old, slices.Repeat([]float64{600}, 600), slices.Repeat([]float64{1000}, 380), slices.Repeat([]float64{1100}, 20))
	times := slices.Repeat([]float64{0.0015}, 200)
	hits := "dewpond_gets_total{class=\"1056\",pool=\"frames\",result=\"hit\"} 5000\n"
	askedThen, varsThen := values("frames", sampledAsked, bounds[:1], old)
	askedNow, varsNow := values("frames", sampledAsked, bounds, now)
	outNow, varsOut := values("frames", sampledOut, []float64{0.001024, 0.002048}, times)
	idleNow, varsIdle := values("frames", sampledIdle, []float64{0.001024, 0.002048}, times[:99])
	inVars := func(of ...string) string {
		return `{"dewpond": {"pools": {"frames": {"gets_total": {"1056": {"hit": 5000}}, ` + strings.Join(of, ", ") + `}}}}`
	}
	for name, pages := range map[string][2]string{
		"text": {hits + askedThen, hits + askedNow + outNow + idleNow},
		"vars": {inVars(varsThen), inVars(varsNow, varsOut, varsIdle)},
	} {
		seen := Between(page(t, pages[0]), page(t, pages[1]))
		if len(seen) != 1 || seen[0].Sampled == nil {
			t.Fatalf("%s: %+v", name, seen)
		}
		s := seen[0].Sampled
		if s.Asked.Watched != 1000 || s.Asked.P50.Mid != 640 || s.Asked.P90.Mid != 1024 || s.Asked.P90.Low != 896 || s.Asked.P90.High != 1024 || s.Cap != 1056 {
			t.Errorf("%s: asked %+v, cap %v", name, *s.Asked, s.Cap)
		}
		if s.Out.Watched != 200 || s.Out.P50.Mid != 0.002048 || s.Out.P90.Low != 0.001024 {
			t.Errorf("%s: out %+v", name, s.Out)
		}
		if s.Idle.Watched != 99 || s.Idle.P50.Known() || !strings.Contains(s.Idle.P90.Why, "99 were watched, and 100 are needed: watch for longer, or more of them") {
			t.Errorf("%s: idle %+v", name, s.Idle)
		}
		if f := seen[0].Findings; len(f) != 0 {
			t.Errorf("%s: %v", name, f)
		}
	}
	// Not in checked mode, a pool of objects, one that was made anew, and one above all bounds.
	if s := Between(page(t, hits), page(t, hits))[0].Sampled; s != nil {
		t.Errorf("of an unchecked pool: %+v", *s)
	}
	none, _ := values("frames", sampledAsked, nil, nil)
	if s := Between(page(t, hits), page(t, outNow+none))[0].Sampled; s == nil || s.Asked != nil || s.Cap != 0 || !s.Out.P50.Known() {
		t.Errorf("of objects: %+v", s)
	}
	if s := Between(page(t, askedNow), page(t, askedThen))[0].Sampled; s.Asked.P50.Known() || s.Cap != 0 {
		t.Errorf("of a pool that was made anew: %+v", *s.Asked)
	}
	above, _ := values("frames", sampledAsked, []float64{64}, slices.Repeat([]float64{5000}, 500))
	if s := Between(&Page{}, page(t, above))[0].Sampled; s.Asked.P90.Known() || s.Cap != 0 {
		t.Errorf("above all bounds: %+v", *s.Asked)
	}
	if s := Between(&Page{}, page(t, askedNow))[0].Sampled; s.Cap != 1024 {
		t.Errorf("without a class that was used: %v", s.Cap)
	}
}

// In 19 of 20 samples the interval has the true quantile, here 450 and 810 of what is evenly spread to 900.
func TestQuantilesHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	inside, all := 0, 0
	for range 500 {
		h := histogram{}
		for range 200 {
			x := 900 * random.Float64()
			for bound := 10.0; bound <= 900; bound += 10 {
				if x <= bound {
					h[bound]++
				}
			}
			h[math.Inf(1)]++
		}
		for q, truth := range map[float64]float64{0.5: 450, 0.9: 810} {
			e := h.quantile(q)
			all++
			if e.Low <= truth && truth <= e.High {
				inside++
			}
		}
	}
	if inside*20 < all*19 {
		t.Errorf("%d of %d intervals have the truth", inside, all)
	}
}

// What is no number of values is left out, and so is what no exporter has.
func TestSampledReadsWhatIsThere(t *testing.T) {
	var b strings.Builder
	for i := range 10 * mostBounds {
		fmt.Fprintf(&b, "dewpond_%s_bucket{pool=\"p\",le=\"%d\"} %[2]d\n", sampledAsked, i)
	}
	p := page(t, b.String()+`dewpond_sampled_out_seconds_bucket{pool="p",le="many"} 1
dewpond_sampled_out_seconds_bucket{pool="p",le="NaN"} 1
dewpond_sampled_out_seconds_bucket{pool="p",le="1"} -1
dewpond_sampled_out_seconds_bucket{pool="p",le="2"} NaN
dewpond_sampled_out_seconds_bucket{pool="p",le="3"} +Inf
dewpond_others_bucket{pool="p",le="3"} 7
`)
	if s := p.Pools["p"].sampled; len(s) != 1 || len(s[sampledAsked]) != mostBounds {
		t.Errorf("%v", s)
	}
}
