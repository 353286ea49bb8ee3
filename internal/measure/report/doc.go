// Package report turns measured rounds into a result.Document, and a document
// into what an engineer reads: terminal text, JSON, one HTML file, and .hgrm
// files for HdrHistogram's plotter.
//
// The way of a figure through the package:
//
//  1. series.go groups the rounds by contender and derives each round's numbers
//     (rate, percentiles, per-operation costs).
//  2. percentile.go decides which percentiles have enough samples to be said.
//  3. interval.go pairs a contender with syncpool-class and with nop, round by
//     round, and gives the median with the interval it deserves.
//  4. words.go says what follows from the intervals, and no more.
//  5. grids.go lays the figures out once; text.go and html.go draw the same grids.
//
// docs/benchmarks.md holds the schema and says how to read the figures.
package report
