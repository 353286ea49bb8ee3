package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

func TestCaveats(t *testing.T) {
	moved := pools[0]
	quiet := rounds(t, 40, 6, 2000, pools[0], pools[3], pools[5])
	restless := slices.Clone(quiet)
	for i, r := range rounds(t, 41, 6, 2000, as(pool{get: 8 * moved.get, put: moved.put, tail: moved.tail, rate: 1e6}, control)) {
		if i == 2 {
			restless[2*3].Histograms = r.Histograms
		}
	}
	busy := environment
	busy.LoadAverage[0] = 7.5
	for _, test := range []struct {
		says   string
		env    result.Environment
		rounds []result.Round
	}{
		{"The machine was busy: load average 7.5 on 2 CPUs", busy, quiet},
		{"moved between rounds: Get P50", environment, restless},
		{"Without the nop control", environment, rounds(t, 40, 6, 2000, pools[3], pools[5])},
	} {
		for _, with := range []bool{true, false} {
			env, rs := test.env, test.rounds
			if !with {
				env, rs = environment, quiet
			}
			d, err := Summarise(env, mixed, nil, rs)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(strings.Join(d.Words, "\n"), test.says); got != with {
				t.Errorf("%q said is %v, want %v, in:\n%s", test.says, got, with, strings.Join(d.Words, "\n"))
			}
		}
	}
}

func TestCurvesEndWhereSamplesDo(t *testing.T) {
	d := document(t, mixed, rounds(t, 42, 1, 10_000, pools[3]))
	points, err := curve(d.Contenders[0].Get.Histogram)
	if err != nil {
		t.Fatal(err)
	}
	// Ten of 10,000 samples lie beyond P99.9, which is 1000 on this axis.
	if last := points[len(points)-1][0]; last > 1000.5 || last < 500 {
		t.Errorf("the curve ends at %v, want just before 1000", last)
	}
}
