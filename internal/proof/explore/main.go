//go:build dewpond_explore

// Explore runs the engine of internal/magazine, the very files that ship, through
// all interleavings of small scenarios. See internal/proof/README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	name := flag.String("scenario", "", "run only this one; see -list")
	list := flag.Bool("list", false, "list the scenarios")
	long := flag.Bool("long", false, "run the long ones too")
	limit := flag.Int("limit", 0, "give up on a scenario after so many executions; 0: never")
	flag.Parse()

	ran := 0
	for _, s := range scenarios {
		switch {
		case *list:
			fmt.Printf("%-12s %s\n", s.name, s.about)
			ran++
			continue
		case *name != "" && s.name != *name, *name == "" && s.long && !*long:
			continue
		}
		ran++
		if !explore(s, *limit) {
			os.Exit(1)
		}
	}
	if ran == 0 {
		fmt.Fprintf(os.Stderr, "explore: no scenario %q; -list shows them\n", *name)
		os.Exit(2)
	}
}

func explore(s scenario, limit int) bool {
	start, told := time.Now(), time.Now()
	search := search{scenario: s}
	found, complete := search.explore(limit, func(executions int) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %d executions, %v\n", s.name, executions, time.Since(start).Round(time.Second))
		}
	})
	if found != nil {
		fmt.Printf("%s: FOUND in execution %d: %s\n  schedule (thread x steps): %s\n", s.name, search.executions, found.what, found.schedule)
		return false
	}
	extent := "all interleavings"
	if !complete {
		extent = "NOT all interleavings"
	}
	fmt.Printf("%-12s ok, %s of %d threads: %d executions (%d cut short), %d steps, %v\n",
		s.name, extent, len(s.threads), search.executions, search.pruned, search.steps, time.Since(start).Round(time.Millisecond))
	return true
}
