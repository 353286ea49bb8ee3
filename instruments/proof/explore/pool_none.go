//go:build dewpond_explore && dewpond_engine

package main

// With the tag dewpond_engine the explorer has only the scenarios that need no root package.
// That halves the time to build it, which is done once for each mutant.

type pooled struct{}

var poolScenarios, tickerScenarios []scenario

func (w *world) checkPool() {}
