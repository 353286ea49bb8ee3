package workload

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

func TestParseMix(t *testing.T) {
	for text, want := range map[string]Mix{
		"128:70,8192:30": {{128, 70}, {8192, 30}},
		"1:100":          {{1, 100}},
		"1048576:100":    {{1 << 20, 100}},
		"64:1,65:99":     {{64, 1}, {65, 99}},
	} {
		got, err := ParseMix(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseMix(%q) = %v, %v, want %v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%v prints as %q, want %q", got, got.String(), text)
		}
	}
	for text, want := range map[string]string{
		"":                  "such as 128:70,8192:30",
		"128":               "not a size:percent pair",
		"128:x":             "not a size:percent pair",
		"128:70;8192:30":    "not a size:percent pair",
		"128:70,":           `"" is not a size:percent pair`,
		"0:100":             "size 0",
		"-5:100":            "size -5",
		"1048577:100":       "give 1 to 1048576 bytes",
		"128:0,64:100":      "percent 0",
		"128:101":           "percent 101",
		"128:70,64:40":      "add up to 110",
		"0:70,1048577:100":  "size 1048577", // both are named
		"1048577:100,0:70 ": "size 1048577",
	} {
		if _, err := ParseMix(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseMix(%q) gives error %v, want one that says %q", text, err, want)
		}
	}
}

func TestMixSizes(t *testing.T) {
	count := map[int]int{}
	for _, size := range (Mix{{128, 70}, {8192, 29}, {64, 1}}).sizes() {
		count[size]++
	}
	if want := map[int]int{128: 70, 8192: 29, 64: 1}; !reflect.DeepEqual(count, want) {
		t.Errorf("a draw of 100 gives %v, want %v", count, want)
	}
}

func TestParseHold(t *testing.T) {
	for text, want := range map[string]Hold{"none": {}, "yield": {Yield: true}, "pass": {Pass: true}, "100µs": {Wait: 100 * time.Microsecond}} {
		got, err := ParseHold(text)
		if err != nil || got != want {
			t.Errorf("ParseHold(%q) = %v, %v, want %v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%v prints as %q, want %q", got, got.String(), text)
		}
	}
	for _, text := range []string{"", "0s", "-1s", "5", "Yield"} {
		if _, err := ParseHold(text); err == nil || !strings.Contains(err.Error(), "valid are none, yield ") || !strings.Contains(err.Error(), ", pass ") {
			t.Errorf("ParseHold(%q) gives error %v, want one that lists the valid ones", text, err)
		}
	}
}

func TestStamp(t *testing.T) {
	p := newPattern(100)
	for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 100} {
		b := make([]byte, n)
		const mark = 1<<40 | 77
		p.write(b, mark)
		if err := verify(b, mark); err != nil {
			t.Errorf("%d bytes: %v, though nothing touched them", n, err)
		}
		for i, v := range b {
			if v == 0 && (n < 8 || i < 8 || i >= n-8) == false {
				t.Errorf("%d bytes: byte %d was not written", n, i)
			}
		}
		p.write(b, mark+1) // another owner
		if verify(b, mark) == nil {
			t.Errorf("%d bytes: another owner's stamp went unseen", n)
		}
	}
}

// A contender of one size takes part where there is one, and one whose blocks stay with a goroutine
// where they do.
func TestExcludes(t *testing.T) {
	one, many, pass := Spec{Mix: Mix{{128, 100}}}, Spec{Mix: Mix{{128, 50}, {256, 50}}}, Spec{Hold: Hold{Pass: true}}
	for _, test := range []struct {
		spec Spec
		of   contender.Contender
		want string
	}{
		{one, contender.Contender{OneSize: true}, ""},
		{Spec{}, contender.Contender{OneSize: true}, ""}, // micro makes a pool for each size
		{many, contender.Contender{OneSize: true}, "of one size"},
		{many, contender.Contender{}, ""},
		{pass, contender.Contender{Private: true}, "another cannot put back"},
		{one, contender.Contender{Private: true}, ""},
		{pass, contender.Contender{}, ""},
	} {
		got := Scenario{}.Excludes(test.of, test.spec)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%+v excludes %+v: %q, want %q", test.spec, test.of, got, test.want)
		}
	}
}
