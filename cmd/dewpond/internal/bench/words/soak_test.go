package words_test

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
)

// What stays behind is not flat: the error names it, and the command fails.
func TestSoakVerdict(t *testing.T) {
	for figure, want := range map[string]struct{ not, says string }{
		"":                           {},
		"stranded_bytes":             {"stranded_bytes", "soak: dewpond: stranded bytes not flat: stranded 64 B"},
		"stranded_after_trim_bytes":  {"stranded_bytes", "soak: dewpond: stranded bytes not flat: stranded after trim 64 B"},
		"stranded_after_close_bytes": {"stranded_bytes", "soak: dewpond: stranded bytes not flat: stranded after close 64 B"},
		"in_use_at_rest_bytes":       {"in_use_bytes", "soak: dewpond: bytes in use after all was put back not flat: in use at rest 64 B"},
		"budget_at_rest_bytes":       {"in_use_bytes", "soak: dewpond: bytes in use after all was put back not flat: budget at rest 64 B"},
		"goroutines_left":            {"goroutines", "soak: dewpond: goroutines not flat: goroutines left 64"},
		// Timed, or the machine's: none of these fails.
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
			sc := synthetic.SoakScenario()
			sc.Quick = quick
			d := synthetic.Document(sc, synthetic.SoakRounds(changed, 80e6)) // however resident memory goes
			c := d.Contender(bench.Ours)
			if len(c.Soak.Flat) != 3 {
				t.Fatalf("%s: judged %v", figure, c.Soak.Flat)
			}
			for name, v := range c.Soak.Flat {
				if v == (name == want.not) {
					t.Errorf("%s: %s is flat: %v", figure, name, v)
				}
			}
			if s := said(t, d, "dewpond: "); strings.Contains(s, "NOT flat: ") != (want.not != "") {
				t.Errorf("%s: the words are %q", figure, s)
			}
			err := words.Unflat(d)
			switch {
			case want.not == "" && err != nil:
				t.Errorf("%s: fails with %v", figure, err)
			case want.not != "" && (err == nil || err.Error() != want.says):
				t.Errorf("%s: fails with %v, want %s", figure, err, want.says)
			}
		}
	}
}

// The worst round counts, also if another round saw nothing. What no round saw is not judged.
func TestSoakTakesTheWorstRound(t *testing.T) {
	rounds := append(synthetic.SoakRounds(nil, 0), synthetic.SoakRounds(map[string]float64{"stranded_bytes": 1}, 0)...)
	rounds = append(rounds, synthetic.SoakRounds(nil, 0)...)
	for i := range rounds {
		rounds[i].Round = i / 2
	}
	d := synthetic.Document(synthetic.SoakScenario(), rounds)
	if d.Contender(bench.Ours).Soak.Flat["stranded_bytes"] || words.Unflat(d) == nil {
		t.Error("what one of three rounds left behind is flat")
	}
	if flat := d.Contender("make").Soak.Flat; len(flat) != 1 || !flat["goroutines"] {
		t.Errorf("make is judged by %v, want goroutines alone", flat)
	}
	if words.Unflat(synthetic.Document(synthetic.Mixed, rounds)) != nil {
		t.Error("another scenario fails")
	}
}

func TestSoakSaysHowRSSWent(t *testing.T) {
	for slope, want := range map[float64]string{0: "RSS is flat as far as one can tell, ", 50e6: "RSS rises, +50.", -20e6: "RSS falls, -20."} {
		d := synthetic.Document(synthetic.SoakScenario(), synthetic.SoakRounds(nil, slope))
		if s := said(t, d, "dewpond: "); !strings.Contains(s, want) || !strings.Contains(s, "dewpond: flat: stranded bytes, bytes in use after all was put back, goroutines; RSS ") {
			t.Errorf("%v a minute: %q, want %q", slope, s, want)
		}
	}
	short := synthetic.SoakRounds(nil, 50e6)
	for i := range short {
		for k := range short[i].Series["rss_bytes"] {
			short[i].Series["rss_bytes"][k].Seconds /= 10
		}
	}
	d := synthetic.Document(synthetic.SoakScenario(), short)
	if s := said(t, d, "dewpond: "); !strings.HasSuffix(s, "; RSS: too short to tell") {
		t.Errorf("30 s of it: %q", s)
	}
	if c := d.Contender(bench.Ours); c.Soak.RSS != nil {
		t.Errorf("30 s of it have a slope: %+v", c.Soak.RSS)
	}
	pressed := synthetic.Document(synthetic.SoakScenario(), synthetic.SoakRounds(map[string]float64{"pressure_at_rest": 1}, 0))
	said(t, pressed, "Memory pressure was not low yet")
	if why := words.Withheld(pressed); why != "" {
		t.Errorf("it has a verdict, and says there is none: %s", why)
	}
}
