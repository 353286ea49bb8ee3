package dewtest

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/misuse"
)

// variable overrides the option Check of every pool.
const variable = "DEWPOND_CHECK"

// mostReports is for how many places of misuse Main prints a report.
const mostReports = 100

// Main runs a package's tests, and exits. It sets DEWPOND_CHECK=all unless the
// environment sets it. It prints the violations of all pools, with their stacks, those of
// one place once, and then fails the run. When the tests have ended it looks for more: a block that is out of a
// pool that is neither closed nor collected is a leak, and an idle block of such a pool
// must be as it was put back.
//
// Pools that are older than Main, those of package-level variables, were made without
// the check. If there are any, Main runs the test binary once more, with the same
// arguments, files and directory and with DEWPOND_CHECK=all, passes signals on to it,
// and exits with its exit code. The package's variables are then initialized twice, the
// second time while the first process still has its resources. If that is not possible,
// set DEWPOND_CHECK=all in the environment.
//
// m is a [*testing.M], or a wrapper that does something before and after its Run.
func Main(m interface{ Run() int }) { os.Exit(run(m)) }

func run(m interface{ Run() int }) int {
	if os.Getenv(variable) == "" {
		if err := os.Setenv(variable, "all"); err != nil {
			fmt.Fprintln(os.Stderr, "dewtest:", err)
			return 1
		}
		hooks.Settings.Add(1)
		for range dewpond.Pools() {
			return again()
		}
	}
	before := uint64(0) // violations that were only logged
	for p := range dewpond.Pools() {
		before += p.Stats().Violations
	}
	var mu sync.Mutex
	var told tally
	found := before
	dewpond.OnViolation(func(v misuse.Violation) {
		mu.Lock()
		defer mu.Unlock()
		found += uint64(v.Count)
		if told.first(v) && len(told.order) <= mostReports {
			fmt.Fprintln(os.Stderr, v)
		}
	})
	code := m.Run()
	lookAround()
	mu.Lock()
	defer mu.Unlock()
	for _, line := range told.rest() {
		fmt.Fprintln(os.Stderr, "dewtest:", line)
	}
	if n := len(told.order) - mostReports; n > 0 {
		fmt.Fprintf(os.Stderr, "dewtest: misuse of %d other places is not shown\n", n)
	}
	if found > 0 {
		fmt.Fprintf(os.Stderr, "dewtest: FAIL: pools were misused, misuses: %d\n", found)
		return max(code, 1)
	}
	return code
}

// lookAround makes pools report violations that they have not yet reported.
func lookAround() {
	for p := range dewpond.Pools() {
		ReportLeaks(p)
		p.(interface{ Trim() int64 }).Trim()
	}
	// The collector finds the blocks that are out of a collected pool, along with
	// garbage of ours.
	for range 3 {
		done := make(chan bool)
		type garbage struct{ _, _ *byte } // large enough to be an object of its own
		runtime.AddCleanup(new(garbage), func(done chan bool) { close(done) }, done)
		runtime.GC()
		select {
		case <-done:
		case <-time.After(time.Minute): // a cleanup of the tests does not end
		}
	}
	told := make(chan bool)
	go func() {
		hooks.AwaitReports(nil)
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(time.Minute): // an OnViolation of the tests does not end
	}
}
