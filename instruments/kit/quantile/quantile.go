// Package quantile takes medians and quantiles of values. What stands behind a verdict is package
// summary's, which knows how sure a median is.
package quantile

import (
	"cmp"
	"slices"
)

// Median returns the middle of values, or the mean of the two in the middle. There must be one at
// least. It leaves values in their order.
func Median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// Of returns the value that a share p of them, from 0 to 1, does not exceed: always one of the values,
// which must be sorted. It is zero if there are none.
func Of[T cmp.Ordered](sorted []T, p float64) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
