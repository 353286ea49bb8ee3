// Package report writes a document to a terminal or a file: as text, JSON, or .hgrm
// files for HdrHistogram's plotter. The HTML page is package page's, the SVG picture
// package picture's.
//
// The way of a figure, from a measured round to a reader, one package after the other:
//
//  1. summary derives each round's numbers, folds those of all rounds, and pairs a
//     contender with syncpool-class and with nop, round by round.
//  2. words says what follows from the intervals, no more.
//  3. table lays the figures out once.
//  4. report and page write the same words and tables; bars and palette are what page
//     and picture draw with.
//
// All of them find in package figure how a figure is called, and read and fill the
// plain data of package result. docs/schema.md describes that data, docs/benchmarks.md
// says how to read it.
package report
