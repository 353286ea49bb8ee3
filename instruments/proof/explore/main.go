//go:build dewpond_explore

// Explore runs the engine of internal/magazine, and what a pool adds to it, the very
// files that ship, through all interleavings of small scenarios. See the README of
// instruments/proof.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"
)

func main() {
	name := flag.String("scenario", "", "run only this one; see -list")
	list := flag.Bool("list", false, "list the scenarios; with -long the long ones too")
	long := flag.Bool("long", false, "run the long ones too")
	limit := flag.Int("limit", 100_000, "for scenarios too long to see all of: after so many executions, go through those of few preemptions instead")
	most := flag.Int("most", 0, "give up after so many executions; 0: never")
	check := flag.Int("selfcheck", 0, "test the search itself on so many random programs, and nothing else")
	seed := flag.Uint64("seed", 1, "for -selfcheck")
	flag.Parse()
	debug.SetGCPercent(1000) // each execution makes its own garbage, and nothing of it stays live
	if *check > 0 {
		if err := selfCheck(*check, *seed); err != nil {
			fmt.Println("selfcheck:", err)
			os.Exit(1)
		}
		return
	}

	ran := 0
	for _, s := range slices.Concat(scenarios, lateScenarios(), semaphoreScenarios, poolScenarios, tickerScenarios) {
		if *name != "" && s.name != *name || *name == "" && s.long && !*long {
			continue
		}
		ran++
		if *list {
			fmt.Printf("%-12s %s\n", s.name, s.about)
			continue
		}
		if !explore(s, *limit, *most) {
			os.Exit(1)
		}
	}
	if ran == 0 {
		fmt.Fprintf(os.Stderr, "explore: no scenario %q; -list shows them\n", *name)
		os.Exit(2)
	}
}

// explore goes through all interleavings of a scenario. Of a long one it runs as many
// as limit, and then all of no preemption, of one and of two. If most is not 0 it gives
// up after so many of either.
func explore(s scenario, limit, most int) (ok bool) {
	if !s.long {
		ok, _ = run1(s, unbounded, most)
		return ok
	}
	ok, complete := run1(s, unbounded, limit)
	for bound := 0; ok && !complete && bound <= 2; bound++ {
		ok, _ = run1(s, bound, most)
	}
	return ok
}

func run1(s scenario, bound, limit int) (ok, complete bool) {
	start, told := time.Now(), time.Now()
	search := search{program: s.program, bound: bound}
	found, complete := search.explore(limit, func(executions int) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %d executions, %v\n", s.name, executions, time.Since(start).Round(time.Second))
		}
	})
	if found != nil {
		fmt.Printf("%s: FOUND in execution %d: %s\n  schedule (thread x steps): %s\n", s.name, search.executions, found.what, stretches(found.schedule))
		explain(os.Stdout, s.program, found.schedule)
		return false, false
	}
	extent := "all interleavings"
	if bound != unbounded {
		extent = fmt.Sprintf("all of at most %d preemptions", bound)
	}
	if !complete {
		extent = "NOT " + extent
	}
	fmt.Printf("%-12s ok, %s of %d threads: %d executions (%d cut short), %d steps, %v\n",
		s.name, extent, len(s.threads)+min(1, len(s.late)), search.executions, search.pruned, search.steps, time.Since(start).Round(time.Millisecond))
	return true, complete
}
