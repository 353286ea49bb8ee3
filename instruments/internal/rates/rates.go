// Package rates writes rates.
package rates

import "github.com/dewpond/dewpond/instruments/kit/figure"

// Text returns how many there are a second, as in 417/s.
func Text(perSecond float64) string { return figure.Significant(perSecond) + "/s" }
