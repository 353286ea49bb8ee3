package words

import (
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// Where neither the contender nor the baseline differs from the control, a
// difference between them is credited to neither.
func TestNothingIsClaimedOnTheFloor(t *testing.T) {
	c := &result.Contender{Name: result.Ours,
		Ratios: map[string]result.Ratio{"get_p9999_ns": {Median: 0.5, Low: 0.4, High: 0.6, Rounds: 6}},
		Excess: map[string]result.Excess{"get_p9999_ns": {Low: -5, High: 5, Rounds: 6}}}
	base := &result.Contender{Name: result.Baseline, Excess: map[string]result.Excess{"get_p9999_ns": {Low: -1, High: 9, Rounds: 6}}}
	if v := judge(result.Scenario{Name: "mixed", Mode: "closed"}, c, base); len(v.faster) != 0 || len(v.undecided) != 1 {
		t.Errorf("verdict %+v, want undecided", v)
	}
	base.Excess["get_p9999_ns"] = result.Excess{Low: 1, High: 9, Rounds: 6}
	if v := judge(result.Scenario{Name: "mixed", Mode: "closed"}, c, base); len(v.faster) != 1 {
		t.Errorf("verdict %+v, want faster: the baseline is above the floor", v)
	}
}
