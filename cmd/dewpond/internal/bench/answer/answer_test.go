package answer_test

import (
	"math"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/answer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// A loss is an answer like a gain, and the point of the scenario comes first.
func TestAnswers(t *testing.T) {
	got := answer.Of(synthetic.Scenarios()["burst"])
	want := []struct {
		question string
		side     verdict.Side
	}{{"allocated again", verdict.Better}, {"time to get them", verdict.Better}, {"memory when idle", verdict.Worse}}
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

// What is allocated again in each burst is a loss, and so are the time and the memory that it takes.
func TestBurstsBeyondTheBound(t *testing.T) {
	for share, want := range map[float64]verdict.Side{0.9: verdict.Worse, 0: verdict.Level} {
		got := answer.Of(synthetic.Document(synthetic.BeyondScenario(), synthetic.BeyondRounds(share)))
		if len(got) != 3 {
			t.Fatalf("%d answers, want 3: %+v", len(got), got)
		}
		for i, question := range []string{"processor time", "peak RSS", "bytes allocated"} {
			a := got[i]
			if a.Topic != "6 bursts of 20 thousand blocks" || a.Question != question || a.Side != string(want) || a.Ratio == nil {
				t.Errorf("%v allocated again: the answer is %+v, want %v", share, a, want)
			}
		}
	}
}

// With a memory limit the topic says so, and requests of a second size are an answer of their own, of which
// more is better.
func TestBurstsAtALimit(t *testing.T) {
	sc, rounds := synthetic.BeyondScenario(), synthetic.BeyondRounds(0)
	sc.MemoryLimit, sc.SecondSize = "1073741824 B", "16384 B"
	for i, r := range rounds {
		hits := 0.9
		if r.Contender == bench.Ours {
			hits = 0.6
		}
		rounds[i].Figures["second_size_hit_share"] = hits
	}
	got := answer.Of(synthetic.Document(sc, rounds))
	if len(got) != 4 {
		t.Fatalf("%d answers, want 4: %+v", len(got), got)
	}
	if a := got[3]; a.Topic != "6 bursts of 20 thousand blocks, memory limit 1.07 GB" || a.Question != "hits of a second size" || a.Side != string(verdict.Worse) {
		t.Errorf("0.6 beside 0.9 hits: the answer is %+v", a)
	}
}

// What is refused is a loss beside a baseline that refuses nothing, and none if nothing is refused.
func TestRefusalsAreALoss(t *testing.T) {
	for refused, want := range map[float64]verdict.Side{0.9: verdict.Worse, 0: verdict.Level} {
		got := answer.Of(synthetic.Document(synthetic.FloodScenario(), synthetic.FloodRounds(refused)))
		if len(got) != 3 {
			t.Fatalf("%d answers, want 3: %+v", len(got), got)
		}
		a := got[1]
		if a.Topic != "10x the traffic, bound 16 MB" || a.Question != "refused" || a.Side != string(want) || a.Ratio != nil || a.Difference == nil || math.Abs(a.Difference.Median-refused) > 0.05 {
			t.Errorf("%v refused: the answer is %+v, want %v", refused, a, want)
		}
	}
}

// What is found is a gain beside a baseline that finds nothing, and level if nothing is found.
func TestFindingsAreAGain(t *testing.T) {
	for found, want := range map[float64]verdict.Side{64: verdict.Better, 0: verdict.Level} {
		got := answer.Of(synthetic.Document(synthetic.MisuseScenario(), synthetic.MisuseRounds(found)))
		if len(got) != 3 {
			t.Fatalf("%d answers, want 3: %+v", len(got), got)
		}
		for i, question := range []string{"double Put", "write after Put", "read after Put"} {
			side := want
			if i == 2 { // nobody sees a read
				side = verdict.Level
			}
			if a := got[i]; a.Topic != "found of 64 misuses of each kind, checked mode" || a.Question != question || a.Side != string(side) {
				t.Errorf("%v found: the answer is %+v, want %v", found, a, side)
			}
		}
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
	if topics["micro"] != 2 || topics["mixed"] != 2 || topics["churn"] != 5 || topics["burst"] != 3 || topics["beyond"] != 2 || topics["flood"] != 3 || topics["misuse"] != 3 {
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
	for _, missing := range []string{bench.Ours, bench.Baseline} {
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
