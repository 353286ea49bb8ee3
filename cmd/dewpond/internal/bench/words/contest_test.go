package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
)

// The sentences count what is lost and what is won, and name each loss.
func TestContest(t *testing.T) {
	for times, want := range map[float64][]string{
		1.5: {
			"Of 28 comparisons of dewpond with its rivals, it loses 28 (time 7, P99 7, peak RSS 7, collections 7) and wins none. ",
			"dewpond loses in steady-8-one: time beside syncpool 1.5", "dewpond loses in burst: time beside syncpool 1.5",
			"Of 8 comparisons of dewsync with syncpool, it loses 8 (time 2, P99 2, peak RSS 2, collections 2) and wins none. ",
			"dewsync loses in steady-8-one: ", "dewsync loses in burst: ",
		},
		1: { // level, but for what syncpool has none of
			"Of 28 comparisons of dewpond with its rivals, it loses 1 (collections 1) and wins none. ",
			"dewpond loses in burst: collections beside syncpool +",
			"Of 8 comparisons of dewsync with syncpool, it loses 1 (collections 1) and wins none. ",
			"dewsync loses in burst: collections beside syncpool +",
		},
		1 / 1.5: {
			"Of 28 comparisons of dewpond with its rivals, it loses 1 (collections 1) and wins 27 (time 7, P99 7, peak RSS 7, collections 6). ",
			"dewpond loses in burst: collections beside syncpool +",
			"Of 8 comparisons of dewsync with syncpool, it loses 1 (collections 1) and wins 7 (time 2, P99 2, peak RSS 2, collections 1). ",
			"dewsync loses in burst: collections beside syncpool +",
		},
	} {
		got := words.Of(synthetic.Rivals(times)).Ours
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%v times:\n%s\nwant what begins\n%s", times, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A busy machine is named, and how many intervals miss by chance.
func TestContestLimits(t *testing.T) {
	d := synthetic.Rivals(1)
	quiet := words.Of(d).Limits
	d.Environment.LoadAverage[0] = 9
	busy := words.Of(d).Limits
	if len(quiet) != 1 || !strings.Contains(quiet[0], "Of 36 such intervals about 2 miss") || len(busy) != 2 || !strings.Contains(busy[1], "load average 9 on 2 CPUs") {
		t.Errorf("limits are %q, and on a busy machine %q", quiet, busy)
	}
}
