package palette

import "testing"

// Neighbours in a chart differ, and what a name picks is none of what a chart's lines have.
func TestApart(t *testing.T) {
	seen := map[Hue]bool{}
	for i := range inTurn {
		if h := At(i); seen[h] || h != At(i+len(inTurn)) {
			t.Errorf("At(%d) is %v: want one that none before it has, and the same a turn later", i, h)
		}
		seen[At(i)] = true
	}
	for _, name := range []string{"", "pile", "a pool", "another"} {
		if h := Of(name); seen[h] || h != Of(name) {
			t.Errorf("Of(%q) is %v: want the same each time, and none of At's", name, h)
		}
	}
}
