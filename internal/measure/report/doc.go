// Package report writes a document to a terminal or a file: as text, JSON, or .hgrm files for
// HdrHistogram's plotter. Package page writes the HTML page, package picture the SVG picture.
//
// A figure passes through these packages from a measured round to a reader:
//
//  1. summary computes each round's numbers, summarizes those of all rounds, and pairs a
//     contender with syncpool-class and with nop, round by round.
//  2. verdict decides what is better, worse, level or unclear; answer, words and table all ask
//     it, so that they cannot contradict each other.
//  3. answer answers a user's questions, words says what follows from the intervals, and table
//     arranges the figures.
//  4. report and page write the same answers, words and tables; page and picture draw with
//     bars, axis and palette.
//
// All of them take the names of figures from package figure, and read and fill the plain data of
// package result. docs/schema.md describes that data, docs/benchmarks.md how to read it.
package report
