package top

import (
	"cmp"
	"slices"
)

// An Order is what pools are sorted by, the largest first.
type Order string

const (
	ByMisses Order = "misses" // a second; of one snapshot, since the pool was made
	ByGrowth Order = "growth" // of the bytes in use, in a second; of one snapshot, blocks out
	ByBytes  Order = "bytes"  // idle and in use
)

// keys are the keys that choose an order.
var keys = map[byte]Order{'m': ByMisses, 'g': ByGrowth, 'b': ByBytes}

// sorted returns the names for which value is largest first, and those that are equal by
// name, so that lines do not jump.
func sorted[V any](of map[string]V, value func(V) float64) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(value(of[b]), value(of[a])), cmp.Compare(a, b))
	})
	return names
}
