package answer_test

import (
	"testing"

	"github.com/dewpond/dewpond/internal/measure/answer"
	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/verdict"
)

// A loss is an answer like a gain, and the point of the scenario comes first.
func TestAnswers(t *testing.T) {
	got := answer.Of(synthetic.Scenarios()["burst"])
	want := []struct {
		question string
		side     verdict.Side
	}{{"blocks allocated again", verdict.Better}, {"time to get them again", verdict.Better}, {"memory when idle", verdict.Worse}}
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d: %+v", len(got), len(want), got)
	}
	for i, a := range got {
		if a.Topic != "after 3 collections" || a.Scenario != "burst" || a.Question != want[i].question || a.Side != string(want[i].side) || a.Ratio == nil {
			t.Errorf("answer %d is %+v, want %v", i, a, want[i])
		}
	}
	if a := got[0]; a.Ours.Median != 0 || a.Baseline.Median != 256 {
		t.Errorf("%v beside %v blocks, want 0 beside 256", a.Ours.Median, a.Baseline.Median)
	}
}

// The answers of a tour are those of its parts. With too few rounds they have ratios and no
// verdict, and without dewpond or the baseline there are none.
func TestAnswersOfParts(t *testing.T) {
	d := synthetic.Tour()
	topics := map[string]int{}
	for _, a := range answer.Of(d) {
		topics[a.Scenario]++
		if a.Side == "" {
			t.Errorf("no verdict: %+v", a)
		}
	}
	if topics["micro"] != 2 || topics["mixed"] != 2 || topics["churn"] != 3 || topics["burst"] != 3 {
		t.Errorf("answers by scenario: %v", topics)
	}
	quick := synthetic.Mixed
	quick.Quick = true
	pools := []synthetic.Pool{synthetic.Pools[0], synthetic.Pools[3], synthetic.Pools[5]}
	for _, a := range answer.Of(synthetic.Document(quick, synthetic.Rounds(1, 6, 20_000, pools...))) {
		if a.Side != "" || a.Ratio == nil {
			t.Errorf("with --quick: %+v", a)
		}
	}
	for _, missing := range []string{result.Ours, result.Baseline} {
		var rest []synthetic.Pool
		for _, p := range pools {
			if p.Name != missing {
				rest = append(rest, p)
			}
		}
		if got := answer.Of(synthetic.Document(synthetic.Mixed, synthetic.Rounds(1, 6, 20_000, rest...))); len(got) != 0 {
			t.Errorf("without %s: %+v", missing, got)
		}
	}
}
