// Package words says in sentences what follows from a document's intervals, no more: verdict.go
// reads the intervals, words.go writes sentences about them, caveats.go ends with their limits.
package words
