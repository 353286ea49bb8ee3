package amount

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "100MB": 100e6, "64KiB": 64 << 10, "1.5 GB": 1.5e9, "2kB": 2000, "2KB": 2000, "7B": 7, "1MiB": 1 << 20, "268435456": 1 << 28, "1000GB": 1e12,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1MB", "NaN", "Inf", "1e30", "100 apples", "1001GB"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", text, got)
		}
	}
}

func TestText(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 1: "1", 100: "100", 1000: "1kB", 1024: "1024", 64 << 10: "65536", 1 << 20: "1MiB", 100e6: "100MB", 1<<30 + 1: "1073741825"} {
		if got := Text(n); got != want {
			t.Errorf("Text(%d) = %q, want %q", n, got, want)
		}
		if back, err := Parse(Text(n)); err != nil || back != n {
			t.Errorf("%q is read as %d, %v", Text(n), back, err)
		}
	}
}

func TestRate(t *testing.T) {
	for text, want := range map[string]Rate{"50": 50, "50/s": 50, "0.5/s": 0.5, "1e3": 1000, "1234567/s": 1234567} {
		got, err := ParseRate(text)
		if err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", text, got, err, want)
		}
		written, err := got.MarshalText()
		var back Rate
		if err := back.UnmarshalText(written); err != nil || back != want {
			t.Errorf("%q is read as %v, %v", written, back, err)
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "/s", "fast", "50/m", "50 /s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("ParseRate(%q) = %v, want an error", text, got)
		}
	}
}
