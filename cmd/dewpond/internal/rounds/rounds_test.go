package rounds

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// Rounds are interleaved, every contender is in each, and none always runs after
// the same start.
func TestSpecs(t *testing.T) {
	names := []string{"a", "b", "c"}
	specs := Plan{Spec: workload.Spec{Scenario: "mixed"}, Contenders: names, Rounds: 4}.Specs()
	if len(specs) != 12 {
		t.Fatalf("%d specs, want 12", len(specs))
	}
	for i, s := range specs {
		round, place := i/3, i%3
		if s.Round != round || s.Contender != names[(round+place)%3] || s.Scenario != "mixed" {
			t.Errorf("spec %d is round %d of %s", i, s.Round, s.Contender)
		}
	}
}
