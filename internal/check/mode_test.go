package check

import (
	"fmt"
	"testing"
)

func TestParseMode(t *testing.T) {
	for _, tt := range []struct {
		text  string
		mode  Mode
		every uint
		ok    bool
	}{
		{"off", Off, SampleEvery, true},
		{"all", All, 1, true},
		{"sampled", Sampled, SampleEvery, true},
		{"sampled=1/1", Sampled, 1, true},
		{"sampled=1/16", Sampled, 16, true},
		{"sampled=1/17", Sampled, 32, true},
		{"sampled=1/0", Off, SampleEvery, false},
		{"sampled=1/-4", Off, SampleEvery, false},
		{"sampled=1/4294967296", Off, SampleEvery, false},
		{"sampled=2/3", Off, SampleEvery, false},
		{"sampled=1/", Off, SampleEvery, false},
		{"ALL", Off, SampleEvery, false},
		{" all", Off, SampleEvery, false},
		{"", Off, SampleEvery, false},
	} {
		if mode, every, ok := ParseMode(tt.text); mode != tt.mode || every != tt.every || ok != tt.ok {
			t.Errorf("%q is %v, 1 in %d, %v", tt.text, mode, every, ok)
		}
	}
}

// A mode prints as the word that ParseMode reads.
func TestModeString(t *testing.T) {
	for _, m := range []Mode{Off, Sampled, All} {
		if again, _, ok := ParseMode(m.String()); again != m || !ok {
			t.Errorf("%d prints as %v", uint8(m), m)
		}
	}
	if got := fmt.Sprint(Mode(7)); got != "CheckMode(7)" {
		t.Errorf("%s", got)
	}
}
