// Package report writes a document to a terminal or a file: as text, JSON, or .hgrm files for
// HdrHistogram's plotter. Package webpage writes the HTML page, package picture the SVG picture.
//
// A figure passes through these packages from a measured round to a reader:
//
//  1. digest computes each round's numbers, summarizes those of all rounds, and pairs a
//     contender with syncpool-class and with nop, round by round.
//  2. judge decides what is better, worse, level or unclear; answer, words and table all ask it, and
//     it asks the kit's verdict, as do the lab and dewload, so that they cannot contradict each other.
//  3. answer answers a user's questions, words says what follows from the intervals, and table
//     arranges the figures.
//  4. report and webpage write the same answers, words and tables; webpage and picture draw with
//     the kit's page, bars, axis and palette.
//
// All of them take the names of figures from packages figures and figure, and read and fill the plain
// data of package bench. docs/schema.md describes that data, docs/benchmarks.md how to read it.
package report
