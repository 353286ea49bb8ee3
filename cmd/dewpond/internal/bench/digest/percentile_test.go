package digest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestPercentileNeedsTenSamplesBeyond(t *testing.T) {
	for _, test := range []struct {
		rounds, samples int
		said            [4]bool // P50 P99 P999 P9999
	}{
		{1, 19, [4]bool{}},
		{1, 20, [4]bool{true}},
		{1, 999, [4]bool{true}},
		{1, 1000, [4]bool{true, true}},
		{2, 4999, [4]bool{true, true}},
		{2, 5000, [4]bool{true, true, true}},
		{1, 99_999, [4]bool{true, true, true}},
		{4, 25_000, [4]bool{true, true, true, true}},
	} {
		d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(3, test.rounds, test.samples, synthetic.Pools[0]))
		got := d.Contenders[0].Get
		for i, p := range figure.Percentiles {
			if said := *figures.At(got, p) != nil; said != test.said[i] {
				t.Errorf("%d rounds of %d samples: %s said is %v, want %v", test.rounds, test.samples, p.Label, said, test.said[i])
			}
		}
	}
}

// One round in twenty has a stall that reaches its P99. The median over the rounds must not show it;
// an average would.
func TestPercentilesAreMediansOfRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var rs []result.Round
	for i := range 7 {
		median := 100.0
		if i == 3 {
			median = 1e6
		}
		rs = append(rs, result.Round{Contender: "ring", Round: i, Ops: 1, Seconds: 1,
			Histograms: map[string][]byte{"get": synthetic.Lognormal(rng, median, 0.01, 2000)}})
	}
	g := synthetic.Document(synthetic.Mixed, rs).Contenders[0].Get
	if f := g.P99; f.Median > 110 || f.Max < 900_000 {
		t.Errorf("P99 = %+v, want a median about 102 and a maximum about 1e6", *f)
	}
	if g.Samples != 14_000 {
		t.Errorf("samples = %d, want 14000", g.Samples)
	}
}

func TestThinRoundsGiveTheMergedPercentile(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(5, 6, 20_000, synthetic.Pools[1], synthetic.Pools[3]))
	c := d.Contender("make")
	if got := c.Get.Merged; len(got) != 1 || got[0] != "p9999_ns" {
		t.Fatalf("merged = %v, want p9999_ns alone", got)
	}
	h, err := hdrhistogram.Decode(c.Get.Histogram)
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != 120_000 {
		t.Errorf("the merged histogram has %d samples, want 120000", h.TotalCount())
	}
	if f, want := c.Get.P9999, float64(h.ValueAtPercentile(99.99)); f.Median != want || f.Min > f.Median || f.Max < f.Median {
		t.Errorf("P9999 = %+v, want the merged value %v within the range of the rounds", *f, want)
	}
	if r, ok := c.Ratios["get_p9999_ns"]; ok {
		t.Errorf("a percentile that no round has enough samples for has a paired ratio: %+v", r)
	}
	if _, ok := c.Ratios["get_p999_ns"]; !ok {
		t.Error("P999, for which each round has enough samples, has no ratio")
	}
}
