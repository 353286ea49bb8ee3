package figure

import "testing"

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
		{"ops_per_sec", 99_960, "100 k"},
	} {
		if got := Format(test.name, test.v); got != test.want {
			t.Errorf("format(%q, %v) = %q, want %q", test.name, test.v, got, test.want)
		}
	}
	for v, want := range map[float64]string{1: "1.00", 0.998: "0.998", 1.004: "1.004", 0.213: "0.21", 59.14: "59.1", 123.4: "123", 142_723: "143k", 0.0123: "0.0123"} {
		if got := quotient(v); got != want {
			t.Errorf("quotient(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for name, want := range map[string]string{
		"put_p999_ns": "Put P999", "micro_128_1g_ns": "128 B, 1 goroutine", "micro_8192_par_ns": "8 KiB, parallel",
		"second_burst_ns": "second burst", "dropped_arrivals": "dropped arrivals", "rss_bytes": "RSS",
	} {
		if got := Label(name); got != want {
			t.Errorf("label(%q) = %q, want %q", name, got, want)
		}
	}
}
