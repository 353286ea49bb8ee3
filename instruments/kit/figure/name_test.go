package figure

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		name string
		v    float64
		want string
	}{
		{"a_ns", 7.1, "7.1 ns"}, {"a_ns", 51, "51 ns"}, {"a_ns", 999.4, "999 ns"}, {"a_ns", 999.6, "1.00 µs"},
		{"a_ns", 17_900, "17.9 µs"}, {"a_ns", 3e9, "3.00 s"}, {"a_ns", 0, "0 ns"}, {"a_ns", -1500, "-1.50 µs"},
		{"rss_bytes", 66_400_000, "66.4 MB"}, {"alloc_bytes_per_op", 0.0246, "0.02 B"}, {"allocs_per_op", 0.000034, "<0.01"}, {"alloc_bytes_per_op", 2548, "2.55 kB"},
		{"gc_cpu_share", 0.231, "23.1 %"}, {"ops_per_sec", 3_684_000, "3.68 M"}, {"second_burst_misses", 256, "256"},
		{"ops_per_sec", 99_960, "100 k"}, {"burst_misses", 5904, "5904"}, {"burst_misses", 9_999.7, "10.0 k"},
	} {
		if got := Format(test.name, test.v); got != test.want {
			t.Errorf("format(%q, %v) = %q, want %q", test.name, test.v, got, test.want)
		}
	}
}

// Numbers are as a person would write them.
func TestTimes(t *testing.T) {
	for v, want := range map[float64]string{
		1: "1.00x", 0.998: "1.00x", 0.213: "0.21x", 9.94: "9.94x", 9.96: "10x", 61.6: "62x", 123.4: "123x", 4321: "4321x",
		346_234: "346 thousand times", 2_512_345: "2.51 million times", 0.0123: "1/81", 0.00056: "1/1786", 0.00001: "1/100 thousand", 0: "0x",
	} {
		if got := Times(v); got != want {
			t.Errorf("Times(%v) = %q, want %q", v, got, want)
		}
	}
	for _, test := range []struct {
		median, low, high float64
		rounds            int
		want              string
	}{
		{0.21, 0.18, 0.25, 6, "0.21x [0.18, 0.25]"},
		{0.21, 0.21, 0.21, 1, "0.21x"},
		{1, 0.997, 1.002, 6, "1.00x [1.00, 1.00]"},
		{1.02, 1.003, 1.04, 6, "1.020x [1.003, 1.040]"}, // it does not contain 1, and must not look as if
		{0.0187, 0.0180, 0.0196, 6, "1/53 [1/56, 1/51]"},
		{346_000, 300_000, 1_200_000, 6, "346 thousand times [300 thousand, 1.2 million]"},
		{0, 0, 0, 6, "none"},
		{0, 0, 0.5, 6, "0x [0, 0.50]"},
	} {
		r := result.Ratio{Median: test.median, Low: test.low, High: test.high, Rounds: test.rounds}
		if got := Bracketed(r); got != test.want {
			t.Errorf("%+v is %q, want %q", r, got, test.want)
		}
	}
	for n, want := range map[int]string{1: "1 goroutine", 0: "0 goroutines", 512: "512 goroutines", 200_000: "200 thousand goroutines"} {
		if got := Several(n, "goroutine"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{512: "512", 5000: "5000", 200_000: "200 thousand", 1.5e6: "1.5 million"} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{4e8: "400 MB", 1e6: "1 MB", 67_108_864: "67.1 MB", 20: "20 B", 0: "0 B"} {
		if got := Plain("_bytes", v); got != want {
			t.Errorf("Plain(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for name, want := range map[string]string{
		"put_p999_ns":   "Put P999",
		"refused_share": "refused", "served_per_sec": "served/s", "double_put_found": "double put found",
		"allocated_bytes": "allocated", "cpu_time_ns": "CPU time", "operation_cpu_ns": "CPU time of an operation", "later_misses": "later misses",
		"second_size_hit_share": "second size hits", "second_size_misses": "second size misses", "second_burst_ns": "second burst", "dropped_arrivals": "dropped arrivals", "rss_bytes": "RSS",
	} {
		if got := Label(name); got != want {
			t.Errorf("label(%q) = %q, want %q", name, got, want)
		}
	}
}
