package rig

import (
	"io"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/load"
)

// What grows is found, and what goes up and down is not.
func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		at  func(i int) float64
		bad bool
	}{
		"flat":    {func(i int) float64 { return 100 + float64(i%7) }, false},
		"leaking": {func(i int) float64 { return 100 + 0.1*float64(i) + float64(i%7) }, true},
		"a peak":  {func(i int) float64 { return map[bool]float64{true: 900, false: 100}[i > 400 && i < 430] }, false},
		"falling": {func(i int) float64 { return 1000 - float64(i) }, false},
		"warm-up": {func(i int) float64 { return min(float64(i), 100) }, false},
	} {
		s := newSide(0)
		for i := range 600 {
			s.add("goroutines", c.at(i))
		}
		if err := s.flat(io.Discard); (err != nil) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAccounted(t *testing.T) {
	good := load.Result{
		Offered: 10, Started: 9, Dropped: 1, Finished: 7, Failed: 2,
		Errors: map[load.Kind]uint64{load.BadStatus: 2}, Messages: map[load.Kind]string{load.BadStatus: "status 503 of GET /"},
	}
	var out strings.Builder
	if err := accounted(&out, &good, map[string]int{"Redis stands still": 3}); err != nil || !strings.Contains(out.String(), "offered 10, finished 7, failed 2, dropped 1, cut 0\n2 calls failed by status, such as: status 503") {
		t.Errorf("%v: %s", err, out.String())
	}
	for name, change := range map[string]func(r *load.Result){
		"not accounted for": func(r *load.Result) { r.Finished-- },
		"reasons":           func(r *load.Result) { r.Errors = nil },
		"no known reason":   func(r *load.Result) { r.Errors = map[load.Kind]uint64{load.OtherFailed: 2} },
	} {
		bad := good
		change(&bad)
		if err := accounted(io.Discard, &bad, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
