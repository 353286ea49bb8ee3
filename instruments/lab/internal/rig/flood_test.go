package rig

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// The scenario beside the service is a flood that dewload takes, and the one that the lab plays.
func TestFloodScenario(t *testing.T) {
	f, err := scenariofile.Read(flood)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Scenario.Validate(); err != nil {
		t.Fatal(f.Locate(err))
	}
	if got, want := f.Scenario.Arrivals.Stages, incident(100, 1); !slices.Equal(got, want) {
		t.Errorf("the stages are %+v, want %+v", got, want)
	}
	a := f.Scenario.Arrivals
	begins := a.Expected(30*time.Second+time.Millisecond) - a.Expected(30*time.Second-time.Millisecond)
	if high := a.Expected(100*time.Second) - a.Expected(99*time.Second); high != 400 || begins < 0.49 || begins > 0.51 {
		t.Errorf("%v are due in a second of the peak, %v in 2 ms around the burst's beginning", high, begins)
	}
}

// floodOf is a flood of which each second of the series is said: stage calm ends at 3 s, the burst at 4, the
// peak is from 6 to 8.
func floodOf(seconds ...load.Second) *flooded {
	f := &flooded{Variant: variant.Variant{Name: "v"}, Window: account.Window{PeakRSS: 50 << 20}}
	p95 := 2e6
	f.Stages = append(f.Stages, []load.StagePart{
		{Name: calm, Seconds: 3, Response: &load.Times{P95: &p95}}, {Name: burst, At: 3, Seconds: 1, Response: &load.Times{Max: 9e6}},
		{Name: "to the peak", At: 5, Seconds: 1}, {Name: peak, At: 6, Seconds: 2, Response: &load.Times{Max: 9e6}},
	}...)
	for i, s := range seconds {
		s.At = float64(i + 1)
		f.Series = append(f.Series, s)
	}
	return f
}

func second(ms float64, failed uint64) load.Second {
	return load.Second{Failed: failed, Started: 10, Ended: 10, InFlight: 1, Response: &load.Times{Mean: ms * 1e6, Max: ms * 1e6, Samples: 10}}
}

// When all was back is by the seconds after a flood: the last one that was not well ends before it.
func TestFloodBack(t *testing.T) {
	well, slow, failing := second(1, 0), second(3, 0), second(1, 1)
	hung := load.Second{InFlight: 7, Response: &load.Times{}}
	drained := load.Second{Response: &load.Times{}}
	for _, c := range []struct {
		seconds     []load.Second
		burst, peak string
	}{
		{[]load.Second{well, well, well, slow, well, slow, slow, slow, well, well}, "0s", "0s"},
		{[]load.Second{well, well, well, slow, slow, well, well, well, slow, well, failing, well, well}, "not back", "3s"},
		{[]load.Second{well, well, well, slow, well, slow, slow, slow, slow, slow, slow}, "0s", "not back"},
		{[]load.Second{well, well, well, slow, well, slow, slow, slow, well, hung, well, drained}, "0s", "2s"},
		{[]load.Second{well, well, well, slow, well, slow, slow, slow, well, hung}, "0s", "not back"},
		{nil, "not back", "not back"},
	} {
		f := floodOf(c.seconds...)
		if b, p := f.backText(burst), f.backText(peak); b != c.burst || p != c.peak {
			t.Errorf("%+v: back after %s and %s, want %s and %s", c.seconds, b, p, c.burst, c.peak)
		}
	}
}

// What broke and what was shed are told apart.
func TestFloodWords(t *testing.T) {
	f := floodOf(second(1, 0), second(1, 0), second(1, 0), second(9, 0), second(1, 0), second(1, 0), second(1, 0), second(9, 1), second(9, 1), second(1, 0))
	if got, want := f.words(), "v: nothing broke, none was shed, all was back 0s after the burst, all was back 1s after the evening peak; peak memory 50 MiB."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.Offered, f.Failed, f.Dropped = 1000, 60, 4
	f.Errors = map[load.Kind]uint64{load.BadStatus: 50, "timeout": 10}
	f.ErrorStatuses = map[string]uint64{"503": 40, "429": 5, "500": 5}
	f.off = []string{"score"}
	f.Overload = "takes 5/s of 9/s in the stage \"evening peak\": in_flight filled"
	for _, want := range []string{"v: 19 of 1000 requests broke (10 timeout, 5 with 500, 4 dropped), 45 were shed, off was score, it takes 5/s of 9/s in the stage"} {
		if got := f.words(); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if row := strings.Join(f.row(), "|"); row != "v|2.00 ms|9.00 ms|9.00 ms|19|45|score|0s|1s|50 MiB" {
		t.Error(row)
	}
}

// Two variants live through a small flood without an error. What so short a run measures is chance.
func TestFlood(t *testing.T) {
	startsProcesses(t)
	c := &floodCommand{
		program: service(t), backendFlags: backendFlags{standIn, standIn}, Connections: 8, Rate: 20, Only: []string{"all"}, scale: 0.02,
		times: times{50 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond, 0, 0},
	}
	var out strings.Builder
	err := c.flood(t.Context(), &out, io.Discard)
	if ending := (*command.Ending)(nil); err != nil && !(errors.As(err, &ending) && ending.Code == 4) { // a busy machine
		t.Fatal(err)
	}
	if !containsAll(out.String(), "stand-in", "20/s before and between, 80/s in the burst and at the evening peak", "\nbefore: ", "\nall: ", " shed", "peak memory ", "MiB") {
		t.Error(out.String())
	}
}

func TestFloodRefuses(t *testing.T) {
	for want, c := range map[string]*floodCommand{
		"--rate -5/s: give":               {Rate: -5, Connections: 8},
		"--rate 1000000/s: give":          {Rate: 1e6, Connections: 8},
		"--connections 0: give 1":         {},
		`--only "none": the variants are`: {Connections: 8, Only: []string{"none"}},
	} {
		if err := c.flood(context.Background(), io.Discard, io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
