package words_test

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
	"github.com/dewpond/dewpond/internal/measure/result"
)

func TestToolWords(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.ToolRounds(6, result.Baseline, result.Control))
	for begins, names := range map[string]string{
		"dewpond.Pool is faster than sync.Pool":              "64 B struct, 1 goroutine 0.7",
		"dewpond.Pool is slower than sync.Pool":              "in none of the cases",
		"dewpond.Pool cannot be told apart from sync.Pool":   "bytes.Buffer, parallel 1.00x [0.97, 1.02]",
		"Lease+Release is faster than Get+Put":               "in none of the cases",
		"Lease+Release is slower than Get+Put":               "128 B, 1 goroutine 1.97x [",
		"dewpond.Scope allocates less than make":             "50 pieces of 128 B 0 B beside 6.40 kB",
		"dewpond.Buffer is faster than bytes.Buffer":         "JSON mix, 4 % of 64 KB 0.2",
		"dewpond.Buffer is slower than bytebufferpool":       "JSON mix, 4 % of 64 KB 1.97x [",
		"A tool's ratio is its time to the time of what":     "96.9 % interval",
		"Of 6 such intervals about 1 miss the truth by chan": "ce",
	} {
		if s := toolSaid(t, d, begins); !strings.HasPrefix(s, begins) || !strings.Contains(s[len(begins):], names) {
			t.Errorf("%q does not name %q", s, names)
		}
	}
	all := strings.Join(d.Words, "\n")
	for _, wrong := range []string{"allocates less than bytebufferpool", "allocates more", "allocates less than sync.Pool", "No verdict"} {
		if strings.Contains(all, wrong) {
			t.Errorf("the words say %q:\n%s", wrong, all)
		}
	}
}

// toolSaid is what the words say from begins on.
func toolSaid(t *testing.T, d result.Document, begins string) string {
	t.Helper()
	for _, w := range d.Words {
		if _, after, ok := strings.Cut(w, begins); ok {
			return begins + after
		}
	}
	t.Fatalf("no sentence %q in:\n%s", begins, strings.Join(d.Words, "\n"))
	return ""
}
