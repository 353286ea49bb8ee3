package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// needs are what the sentences are about, each with the scenario and the figure of the answer that
// decides it.
var needs = map[string]string{
	"micro micro_128_1g_ns":        "one size is hot (",
	"mixed get_p999_ns":            "Get P999 of 512 goroutines must be short (",
	"churn replace_p999_ns":        "replacement P999 of steady mixed traffic must be short (",
	"burst second_burst_misses":    "blocks must survive collections (0 beside 256)",
	"burst rss_when_idle_bytes":    "idle memory must be least (",
	"beyond rss_peak_bytes":        "bursts exceed the idle bound (",
	"flood rss_peak_bytes":         "nothing else bounds a flood (",
	"flood refused_share":          "no request may be refused (",
	"misuse double_put_found":      "a double Put must be found (64 beside 0)",
	"misuse write_after_put_found": "a write after Put must be found (63.5 beside 0)",
	"misuse read_after_put_found":  "a read after Put must be found (0 beside 0)",
}

// Each answer can speak for dewpond, against it and for neither, and is in the sentence of its side
// alone.
func TestForWhomBothWays(t *testing.T) {
	begins := map[verdict.Side]string{verdict.Better: "For you if ", verdict.Worse: "Not for you if ", verdict.Level: "No difference", verdict.Unclear: "No difference", verdict.Unseen: "No difference"}
	tour := synthetic.Tour()
	for name, need := range needs {
		for side, begin := range begins {
			d := tour
			d.Answers = slices.Clone(tour.Answers)
			changed := 0
			for i := range d.Answers {
				if a := &d.Answers[i]; a.Scenario+" "+a.Figure == name {
					a.Side = string(side)
					changed++
				}
			}
			if changed != 1 {
				t.Fatalf("%d answers by %s, want 1", changed, name)
			}
			for _, s := range words.ForWhom(d) {
				if strings.Contains(s, need) != strings.HasPrefix(s, begin) {
					t.Errorf("%s is %s: %q", name, side, s)
				}
			}
		}
	}
}

// The sentences for either side are there also if no answer is on it, and with too few rounds there is
// neither.
func TestForWhomWithoutReason(t *testing.T) {
	d := synthetic.Tour()
	for side, want := range map[verdict.Side]string{
		verdict.Better: "No figure here speaks against it.",
		verdict.Worse:  "No figure here speaks for it.",
		verdict.None:   "For whom dewpond is takes more rounds to say: 6 or more, without --quick.",
	} {
		for i := range d.Answers {
			d.Answers[i].Side = string(side)
		}
		all := words.ForWhom(d)
		if !strings.Contains(strings.Join(all, "\n"), want) || side == verdict.None && len(all) != 1 {
			t.Errorf("all answers are %q: %q, want %q", side, all, want)
		}
	}
}
