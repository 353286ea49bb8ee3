package queueing_test

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// A pool of 16 connections to a database that takes 10 ms for a query.
func Example() {
	q := queueing.Queue{Rate: 1400, Service: 10 * time.Millisecond, Slots: 16}
	fmt.Printf("%.0f are busy, and %.0f %% of the queries wait\n", q.Offered(), 100*q.Waiting())
	fmt.Printf("P99 is below 50 ms up to %.0f/s\n", q.RateFor(0.99, 50*time.Millisecond))
	fmt.Printf("where none may wait, %.0f %% are turned away\n", 100*queueing.ErlangB(q.Slots, q.Offered()))
	q.Rate = 1700
	if err, ok := q.Stable().(queueing.UnstableError); ok {
		fmt.Printf("at 1700/s the queue grows by %.0f a second\n", err.Growth)
	}
	// Output:
	// 14 are busy, and 51 % of the queries wait
	// P99 is below 50 ms up to 1397/s
	// where none may wait, 11 % are turned away
	// at 1700/s the queue grows by 100 a second
}
