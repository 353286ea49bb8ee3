package report_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// What dewload prints, of a run in a program of your own.
func ExampleWriteText() {
	scenario, err := load.Get("http://127.0.0.1:8080/")
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := load.Run(context.Background(), scenario, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	report.WriteText(os.Stdout, &result)
}

// Two rounds of each of two commands, as they are in the files of --json.
func ExampleCompare() {
	round := func(command string, p50 time.Duration) load.Result {
		ns := float64(p50)
		return load.Result{Command: []string{"dewload", command}, Valid: true, Session: load.Part{Response: &load.Times{P50: &ns}}}
	}
	c := report.Compare([]load.Result{
		round("before.yaml", 10*time.Millisecond), round("after.yaml", 5*time.Millisecond),
		round("before.yaml", 12*time.Millisecond), round("after.yaml", 6*time.Millisecond),
	})
	c.WriteText(os.Stdout)
	// Output:
	// session, response                         [1]                         [2]          [2] to [1]
	// P50                11.0 ms [10.0 ms, 12.0 ms]  5.50 ms [5.00 ms, 6.00 ms]  0.50x [0.50, 0.50]
	// P95                                         -                           -                   -
	// P99                                         -                           -                   -
	// P999                                        -                           -                   -
	// P9999                                       -                           -                   -
	//
	// [1] 2 rounds, dewload before.yaml
	// [2] 2 rounds, dewload after.yaml
	// Fewer than 6 rounds of each: no verdict.
}
