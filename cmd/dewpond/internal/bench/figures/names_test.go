package figures

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// The point of a scenario comes first.
func TestNames(t *testing.T) {
	f := result.Figure{}
	d := bench.Document{Contenders: []bench.Contender{
		{Figures: map[string]result.Figure{"a_ns": f, "second_burst_ns": f}},
		{Figures: map[string]result.Figure{"second_burst_misses": f, "b_ns": f}},
	}}
	if got, want := Names(d), []string{"second_burst_misses", "second_burst_ns", "a_ns", "b_ns"}; !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
}

func TestLabels(t *testing.T) {
	for name, want := range map[string]string{
		"micro_128_1g_ns": "128 B by 1 goroutine", "micro_8192_par_ns": "8 KiB in parallel", "put_p999_ns": "Put P999",
	} {
		if got := Label(name); got != want {
			t.Errorf("Label(%q) = %q, want %q", name, got, want)
		}
	}
}
