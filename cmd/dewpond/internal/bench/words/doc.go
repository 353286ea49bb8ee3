// Package words says in sentences what follows from the intervals of a document.
//
// words.go, contender.go, tools.go, and decay.go have the verdict, whom.go for whom dewpond
// is by a tour, limits.go says how far to trust it, conditions.go under which conditions it was
// measured.
package words
