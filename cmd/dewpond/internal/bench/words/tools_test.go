package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

func TestToolWords(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.ToolRounds(6, bench.Baseline, bench.Control))
	for begins, names := range map[string]string{
		"dewpond.Pool beside sync.Pool: better in 64 B struct by 1 goroutine 0.7":      "; worse in no case; level in bytes.Buffer in parallel 1.00x [0.97, 1.02].",
		"Lease+Release beside Get+Put: better in no case; worse in ":                   "128 B by 1 goroutine 1.97x [",
		"dewpond.Scope beside make: better in 50 pieces of 128 B 1/21 [":               "It allocates less in 50 pieces of 128 B (0 B beside 6.40 kB).",
		"dewpond.Buffer beside bytes.Buffer: better in JSON mix, 4 % of 64 KB 0.24x [": "worse in no case",
		"dewpond.Buffer beside bytebufferpool: better in no case; worse in ":           "JSON mix, 4 % of 64 KB 1.97x [",
		"A tool's ratio is its time divided by the time of what":                       "96.9 % interval. Of 6 such intervals about 1 misses the truth by chance.",
	} {
		i := slices.IndexFunc(d.Words, func(w string) bool { return strings.HasPrefix(w, begins) })
		if i < 0 || !strings.Contains(d.Words[i], names) {
			t.Errorf("no sentence %q with %q in:\n%s", begins, names, strings.Join(d.Words, "\n"))
		}
	}
	all := strings.Join(d.Words, "\n")
	if n := strings.Count(all, "It allocates less"); n != 2 {
		t.Errorf("%d tools allocate less, want Scope, and Buffer beside bytes.Buffer:\n%s", n, all)
	}
	for _, wrong := range []string{"allocates more", "No verdict"} {
		if strings.Contains(all, wrong) {
			t.Errorf("the words say %q:\n%s", wrong, all)
		}
	}
}
