package figure

import (
	"math"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/result"
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

// Count formats a number without a unit. It is whole below 10,000: "5900", not "5.90 k".
func Count(n float64) string {
	if math.Abs(n) >= 999.5 && math.Abs(n) < 9999.5 {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return scaled(n, countUnits)
}

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

// Plain is [Format] without zeros behind the point, for the labels of an axis: "1 ms", not
// "1.00 ms".
func Plain(name string, v float64) string {
	number, unit, _ := strings.Cut(Format(name, v), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + unit)
}

// Amount formats bytes, or bytes a second, that a scenario has as "400000000 B" or
// "400000000 B/s".
func Amount(text string) string {
	number, unit, ok := strings.Cut(text, " B")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return text
	}
	return Plain("_bytes", n) + unit
}

// Number formats a count in words: "50 thousand", "2.5 million".
func Number(n float64) string {
	switch {
	case n >= 999_500:
		return Significant(n/1e6) + " million"
	case n >= 10_000:
		return Significant(n/1e3) + " thousand"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// Several formats a whole number of things: "1 goroutine", "8 goroutines", "200 thousand messages".
// The plural takes an s.
func Several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(float64(n)) + " " + thing
}

// Times formats a ratio: "0.61x", "62x", "1/62", "346 thousand times".
func Times(v float64) string { return times(v, 2) }

// times is Times with a number of decimals for ratios near 1.
func times(v float64, places int) string {
	s := quotient(v, places)
	switch {
	case strings.HasPrefix(s, "1/"):
		return s
	case strings.Contains(s, " "):
		return s + " times"
	}
	return s + "x"
}

// quotient formats a ratio without its unit: with the given decimals from 0.095 to 9.95, and as a
// fraction below.
func quotient(v float64, places int) string {
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case a >= 10_000:
		return Number(v)
	case a >= 9.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 0.095:
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	return "1/" + Number(math.Round(1/v))
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
// interval. A ratio of 0 is "none".
func Bracketed(r result.Ratio) string {
	if r.Median == 0 && r.High == 0 {
		return "none"
	}
	places := 2
	if r.Low != 1 && r.High != 1 && (r.Low > 1) == (r.High > 1) && (hidden(r.Low) || hidden(r.High)) {
		places = 3 // an interval without 1 must not look as if it had it
	}
	if r.Rounds < 2 {
		return times(r.Median, 2)
	}
	return times(r.Median, places) + " [" + quotient(r.Low, places) + ", " + quotient(r.High, places) + "]"
}

// hidden reports whether two decimals make v look like 1.
func hidden(v float64) bool { return v != 1 && math.Abs(v-1) < 0.005 }
