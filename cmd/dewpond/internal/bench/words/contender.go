package words

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/judge"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// inFull names every figure of a contender, a sentence for each side. It names both better and
// worse even if one is empty: to omit it would hide a loss.
func inFull(c, base *bench.Contender, v judge.Verdict) []string {
	if v.Intervals == 0 {
		return []string{noRounds(c)}
	}
	out := []string{
		fmt.Sprintf("%s is better than %s in %s.", c.Name, bench.Baseline, listed(quoted(c, v.Better))),
		fmt.Sprintf("%s is worse than %s in %s.", c.Name, bench.Baseline, listed(append(quoted(c, v.Worse), allocates(c, base)...))),
	}
	say := func(format string, figures []string) {
		if len(figures) > 0 {
			out = append(out, fmt.Sprintf(format, c.Name, listed(labels(figures))))
		}
	}
	say("%s is level with "+bench.Baseline+", less than 2 %% apart, in %s.", v.Level)
	say("Whether %s is better or worse than "+bench.Baseline+" is unclear in %s: the interval contains 1.", v.Unclear)
	say("Between %s and "+bench.Baseline+" no difference is to be seen in %s: a run without a pool shows no less.", v.Unseen)
	say("%s cannot be told apart from "+bench.Control+", the control without a pool, in %s.", v.Floor)
	say("%s is below "+bench.Control+" in %s: there the control is no floor, because its own buffers cost more.", v.Below)
	return out
}

// inShort says in one paragraph where a contender differs most, and counts the rest.
func inShort(c, base *bench.Contender, v judge.Verdict) string {
	if v.Intervals == 0 {
		return noRounds(c)
	}
	parts := []string{
		"better than " + bench.Baseline + " in " + most(c, v.Better, nil),
		"worse in " + most(c, v.Worse, allocates(c, base)),
	}
	for _, side := range []struct {
		name    string
		figures []string
	}{{"level", v.Level}, {"unclear", v.Unclear}, {string(verdict.Unseen), v.Unseen}} {
		if n := len(side.figures); n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", side.name, n))
		}
	}
	return c.Name + ": " + strings.Join(parts, "; ") + "."
}

func noRounds(c *bench.Contender) string {
	return fmt.Sprintf("%s has fewer than %d complete rounds beside %s: no verdict on it.", c.Name, summary.VerdictRounds, bench.Baseline)
}

// named is how many figures a short paragraph names.
const named = 3

// most names the figures that differ most from the baseline's, and says how many there are; extra
// are further ones, in words.
func most(c *bench.Contender, figures, extra []string) string {
	n := len(figures) + len(extra)
	if n == 0 {
		return "no figure"
	}
	by := slices.SortedStableFunc(slices.Values(figures), func(a, b string) int {
		return compare(distance(c, b), distance(c, a))
	})
	all := append(extra, quoted(c, by)...)
	if n <= named {
		return strings.Join(all, "; ")
	}
	return fmt.Sprintf("%d figures, most of all in %s", n, strings.Join(all[:named], "; "))
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// distance returns how far a figure is from the baseline's; twice and half are equally far, and
// what the baseline has none of is farthest.
func distance(c *bench.Contender, name string) float64 {
	if _, ok := c.Differences[name]; ok {
		return math.Inf(1)
	}
	return math.Abs(math.Log(c.Ratios[name].Median))
}

// allocates names the allocations that have no ratio because the baseline has none.
func allocates(c, base *bench.Contender) []string {
	var out []string
	for _, name := range []string{"alloc_bytes_per_op", "allocs_per_op"} {
		mine, _ := figures.Of(c, name)
		theirs, _ := figures.Of(base, name)
		if _, ok := c.Ratios[name]; !ok && mine.Min > figure.AllocationNoise[name] && theirs.Max <= figure.AllocationNoise[name] {
			out = append(out, fmt.Sprintf("%s (%s, where %s has none)", figures.Label(name), figure.Format(name, mine.Median), bench.Baseline))
		}
	}
	return out
}

// quoted formats figures with their ratios, or with their differences.
func quoted(c *bench.Contender, names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, figures.Label(name)+" "+figures.Beside(c, name))
	}
	return out
}

func labels(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, figures.Label(name))
	}
	return out
}

// listed joins the items of a list. They are separated by semicolons, because an item may contain
// a comma.
func listed(items []string) string {
	if len(items) == 0 {
		return "no figure"
	}
	return strings.Join(items, "; ")
}
