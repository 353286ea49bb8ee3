package figures

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// The known curves come first, with the reason why a contender has none. For other curves the
// reason is unknown.
func TestCurves(t *testing.T) {
	d := bench.Document{Contenders: []bench.Contender{
		{Name: "both", Series: map[string][]result.Point{"odd_ns": {{}}, "rss_bytes": {{}}, "idle_bytes": {{}}}},
		{Name: "one", Series: map[string][]result.Point{"rss_bytes": {{}}}},
		{Name: "unwatched"},
	}}
	want := [][3]string{
		{"idle_bytes", "Idle bytes over time", "cannot tell what it holds: one"},
		{"rss_bytes", "Resident memory (RSS) over time", ""},
		{"odd_ns", "odd over time", ""},
	}
	got := Curves(d)
	if len(got) != len(want) {
		t.Fatalf("curves are %v, want %v", got, want)
	}
	for i, c := range got {
		if want[i] != [3]string{c.Name, c.Title, c.Silence(d)} {
			t.Errorf("curve %d is %v with silence %q, want %q", i, c, c.Silence(d), want[i])
		}
	}
}
