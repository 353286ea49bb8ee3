package command

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"micro", "mixed", "churn", "--goroutines", "--rounds"}
	for word, want := range map[string]string{
		"micor": "micro", "mcro": "micro", "mixd": "mixed", "chrun": "churn", "--goroutins": "--goroutines", "--round": "--rounds",
		"foo": "", "m": "", "": "", "planet": "", "micro": "micro",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("the nearest to %q is %q, want %q", word, got, want)
		}
	}
}
