package digest_test

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestToolsAreFoldedOverRounds(t *testing.T) {
	rounds := synthetic.Plain(bench.Ours, 1e8, 1e8, 1e8, 1e8)
	for i, ns := range []float64{10, 40, 20, 1000} {
		rounds[i].Tools = []result.ToolRound{{Tool: "T", Case: "case", Alternatives: []result.AlternativeRound{
			{Name: "ours", Ns: ns, Ratio: 1}, {Name: "other", Ns: 2 * ns, Bytes: ns, Allocs: 1, Ratio: float64(i + 1)},
		}}}
	}
	rounds[3].Cut = true // out of every figure
	d := synthetic.Document(synthetic.Mixed, rounds)
	if len(d.Tools) != 1 || d.Tools[0].Name != "T" || d.Tools[0].Case != "case" || len(d.Tools[0].Alternatives) != 2 {
		t.Fatalf("tools are %+v", d.Tools)
	}
	own, other := d.Tools[0].Alternatives[0], d.Tools[0].Alternatives[1]
	if want := (result.Figure{Median: 20, Min: 10, Max: 40}); own.Time != want || other.Bytes != want || own.Ratio != nil {
		t.Errorf("time %v, the other's bytes %v, want %v; own ratio %v, want none", own.Time, other.Bytes, want, own.Ratio)
	}
	if r := other.Ratio; r == nil || r.Median != 2 || r.Low != 1 || r.High != 3 || r.Rounds != 3 {
		t.Errorf("ratio %+v, want the rounds' own ratios folded: 2 from 1 to 3", r)
	}
	for _, c := range synthetic.Document(synthetic.Mixed, synthetic.Plain(bench.Baseline, 1)).Tools {
		t.Errorf("tools without dewpond: %+v", c)
	}
}
