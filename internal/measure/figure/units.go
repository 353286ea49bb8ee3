package figure

import (
	"math"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// One rule of rounding holds for every figure: three significant digits, in the unit that leaves
// one to three of them before the point. Below the first step of a unit (51 ns, 24 B) whole
// numbers stay whole. Bytes are decimal: 1 MB is 1,000,000.

var (
	timeUnits  = []string{"ns", "µs", "ms", "s"}
	byteUnits  = []string{"B", "kB", "MB", "GB", "TB"}
	countUnits = []string{"", "k", "M", "G"}
)

// Duration formats nanoseconds.
func Duration(ns float64) string { return scaled(ns, timeUnits) }

// ByteSize formats bytes.
func ByteSize(n float64) string { return scaled(n, byteUnits) }

// Count formats a number without a unit.
func Count(n float64) string { return scaled(n, countUnits) }

func scaled(v float64, units []string) string {
	i := 0
	// 999.5 would round to 1000 of the smaller unit.
	for math.Abs(v) >= 999.5 && i < len(units)-1 {
		v /= 1000
		i++
	}
	if i == 0 {
		return strings.TrimSpace(Significant(v) + " " + units[i])
	}
	places := 0
	for x := math.Abs(v); x < 99.95 && places < 2; x *= 10 {
		places++
	}
	return strconv.FormatFloat(v, 'f', places, 64) + " " + units[i]
}

// Significant formats v with three significant digits, but at most two decimals; what is less
// than 0.01 is shown as such. It never uses e-notation.
func Significant(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if 0 < v && v < 0.005 {
		return "<0.01"
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	s := strconv.FormatFloat(v, 'f', max(0, min(places, 2)), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// Percent formats a share of 1.
func Percent(share float64) string { return Significant(100*share) + " %" }

// quotient formats with two decimals, and with more if they would be 0.0.
func quotient(v float64) string {
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case v != 1 && math.Abs(v-1) < 0.005: // never 1.00 for a bound that is not 1
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a >= 999.5:
		return strings.ReplaceAll(Count(v), " ", "")
	case a >= 99.5:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.095:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// Unit returns the unit of a figure.
func Unit(name string) string {
	switch {
	case strings.HasSuffix(name, "_ns"):
		return "ns"
	case strings.HasSuffix(name, "_bytes"):
		return "bytes"
	}
	return ""
}

// Format formats a figure with the unit that is the suffix of its name, as in
// [result.Round.Figures].
func Format(name string, v float64) string {
	switch {
	case strings.HasSuffix(name, "_ns"):
		return Duration(v)
	case strings.HasSuffix(name, "_bytes"), strings.HasSuffix(name, "bytes_per_op"):
		return ByteSize(v)
	case strings.HasSuffix(name, "_share"):
		return Percent(v)
	}
	return Count(v)
}

// Signed is Format with a plus sign before positive values.
func Signed(name string, v float64) string {
	s := Format(name, v)
	if v > 0 {
		s = "+" + s
	}
	return s
}

// Bracketed formats a ratio with its interval: "0.21x [0.18, 0.25]". With one round it has no
// interval.
func Bracketed(r result.Ratio) string {
	if r.Rounds < 2 {
		return quotient(r.Median) + "x"
	}
	return quotient(r.Median) + "x [" + quotient(r.Low) + ", " + quotient(r.High) + "]"
}
