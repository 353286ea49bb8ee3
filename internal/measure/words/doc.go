// Package words says in sentences what follows from a document's intervals, no more:
// verdict.go reads the intervals, words.go makes sentences of that, caveats.go closes
// them with what bounds them.
package words
