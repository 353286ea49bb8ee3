package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// soakRounds are one round of a contender that cannot account for itself and one of
// dewpond, of which some figures are changed, with resident memory that rises so many
// bytes a minute.
func soakRounds(changed map[string]float64, perMinute float64) []result.Round {
	var out []result.Round
	for _, name := range []string{"make", ours} {
		r := result.Round{Contender: name, Ops: 1e6, Seconds: 600, RSSPeakBytes: 60e6}
		r.Figures = map[string]float64{"goroutines_at_start": 3, "goroutines_at_rest": 3, "goroutines_left": 0, "pools_made": 600, "rss_at_rest_bytes": 17e6}
		if name == ours {
			for _, key := range []string{"stranded_bytes", "stranded_after_trim_bytes", "stranded_after_close_bytes", "in_use_at_rest_bytes", "budget_at_rest_bytes", "idle_after_two_timeouts_bytes", "pressure_at_rest"} {
				r.Figures[key] = 0
			}
			r.Figures["decayed_in_ns"] = 1.2e9
			for key, v := range changed {
				r.Figures[key] = v
			}
		}
		r.Series = map[string][]result.Point{}
		for i := range 101 {
			at := 6 * float64(i)
			r.Series["rss_bytes"] = append(r.Series["rss_bytes"], result.Point{Seconds: at, Value: 30e6 + perMinute*at/60 + 1e5*math.Sin(9*at)})
			r.Series["pressure"] = append(r.Series["pressure"], result.Point{Seconds: at, Value: float64(i / 20 % 3)})
			r.Series["goroutines"] = append(r.Series["goroutines"], result.Point{Seconds: at, Value: 14})
		}
		out = append(out, r)
	}
	return out
}

func soakScenario() result.Scenario {
	s := mixed
	s.Name, s.Mode, s.Rate, s.Goroutines, s.Rounds, s.Duration, s.Mix = soaked, "paced", 50_000, 8, 1, "10m0s", ""
	s.Every, s.IdleTimeout = "100ms", "500ms"
	return s
}

// What stays behind is not flat, each under its own name, and fails the command.
func TestSoakVerdict(t *testing.T) {
	for figure, want := range map[string]struct{ not, says string }{
		"":                           {},
		"stranded_bytes":             {"stranded_bytes", "soak: dewpond: stranded bytes not flat: stranded 64 B"},
		"stranded_after_trim_bytes":  {"stranded_bytes", "soak: dewpond: stranded bytes not flat: stranded after trim 64 B"},
		"stranded_after_close_bytes": {"stranded_bytes", "soak: dewpond: stranded bytes not flat: stranded after close 64 B"},
		"in_use_at_rest_bytes":       {"in_use_bytes", "soak: dewpond: bytes in use after all was put back not flat: in use at rest 64 B"},
		"budget_at_rest_bytes":       {"in_use_bytes", "soak: dewpond: bytes in use after all was put back not flat: budget at rest 64 B"},
		"goroutines_left":            {"goroutines", "soak: dewpond: goroutines not flat: goroutines left 64"},
		// Timed, or the machine's: nothing of these fails.
		"idle_after_two_timeouts_bytes": {},
		"decayed_in_ns":                 {},
		"rss_at_rest_bytes":             {},
		"pressure_at_rest":              {},
	} {
		changed := map[string]float64{}
		if figure != "" {
			changed[figure] = 64
		}
		for _, quick := range []bool{false, true} {
			sc := soakScenario()
			sc.Quick = quick
			d := document(t, sc, soakRounds(changed, 80e6)) // however resident memory goes
			c := byName(t, d, ours)
			if len(c.Soak.Flat) != 3 {
				t.Fatalf("%s: judged %v", figure, c.Soak.Flat)
			}
			for name, v := range c.Soak.Flat {
				if v == (name == want.not) {
					t.Errorf("%s: %s is flat: %v", figure, name, v)
				}
			}
			err := Unflat(d)
			switch {
			case want.not == "" && err != nil:
				t.Errorf("%s: fails with %v", figure, err)
			case want.not != "" && (err == nil || err.Error() != want.says):
				t.Errorf("%s: fails with %v, want %s", figure, err, want.says)
			}
		}
	}
}

// Any round's worst counts, also where another saw nothing; what no round saw is not
// judged.
func TestSoakTakesTheWorstRound(t *testing.T) {
	rounds := append(soakRounds(nil, 0), soakRounds(map[string]float64{"stranded_bytes": 1}, 0)...)
	rounds = append(rounds, soakRounds(nil, 0)...)
	for i := range rounds {
		rounds[i].Round = i / 2
	}
	d := document(t, soakScenario(), rounds)
	if byName(t, d, ours).Soak.Flat["stranded_bytes"] || Unflat(d) == nil {
		t.Error("what one of three rounds left behind is flat")
	}
	if flat := byName(t, d, "make").Soak.Flat; len(flat) != 1 || !flat["goroutines"] {
		t.Errorf("make is judged by %v, want goroutines alone", flat)
	}
	if Unflat(document(t, mixed, rounds)) != nil {
		t.Error("another scenario fails")
	}
}

func TestSoakSaysHowRSSWent(t *testing.T) {
	for slope, want := range map[float64]string{0: "RSS flat as far as can be told: ", 50e6: "RSS rises: +50.", -20e6: "RSS falls: -20."} {
		d := document(t, soakScenario(), soakRounds(nil, slope))
		if s := said(t, d, "dewpond: "); !strings.Contains(s, want) || !strings.Contains(s, "stranded flat: yes; in use flat: yes; goroutines flat: yes") {
			t.Errorf("%v a minute: %q, want %q", slope, s, want)
		}
	}
	short := soakRounds(nil, 50e6)
	for i := range short {
		for k := range short[i].Series["rss_bytes"] {
			short[i].Series["rss_bytes"][k].Seconds /= 10
		}
	}
	if s := said(t, document(t, soakScenario(), short), "dewpond: "); !strings.Contains(s, "RSS watched for too short a time to judge") {
		t.Errorf("30 s of it: %q", s)
	}
	pressed := document(t, soakScenario(), soakRounds(map[string]float64{"pressure_at_rest": 1}, 0))
	said(t, pressed, "Pressure was not low yet")
	var out bytes.Buffer
	if err := Text(&out, pressed, 110); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "No verdict") {
		t.Errorf("it has a verdict, and says there is none:\n%s", out.String())
	}
}
