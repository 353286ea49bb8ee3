package words_test

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/words"
)

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
			sc := synthetic.SoakScenario()
			sc.Quick = quick
			d := synthetic.Document(sc, synthetic.SoakRounds(changed, 80e6)) // however resident memory goes
			c := d.Contender(result.Ours)
			if len(c.Soak.Flat) != 3 {
				t.Fatalf("%s: judged %v", figure, c.Soak.Flat)
			}
			for name, v := range c.Soak.Flat {
				if v == (name == want.not) {
					t.Errorf("%s: %s is flat: %v", figure, name, v)
				}
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

// Any round's worst counts, also where another saw nothing; what no round saw is not
// judged.
func TestSoakTakesTheWorstRound(t *testing.T) {
	rounds := append(synthetic.SoakRounds(nil, 0), synthetic.SoakRounds(map[string]float64{"stranded_bytes": 1}, 0)...)
	rounds = append(rounds, synthetic.SoakRounds(nil, 0)...)
	for i := range rounds {
		rounds[i].Round = i / 2
	}
	d := synthetic.Document(synthetic.SoakScenario(), rounds)
	if d.Contender(result.Ours).Soak.Flat["stranded_bytes"] || words.Unflat(d) == nil {
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
	for slope, want := range map[float64]string{0: "RSS flat as far as can be told: ", 50e6: "RSS rises: +50.", -20e6: "RSS falls: -20."} {
		d := synthetic.Document(synthetic.SoakScenario(), synthetic.SoakRounds(nil, slope))
		if s := said(t, d, "dewpond: "); !strings.Contains(s, want) || !strings.Contains(s, "stranded flat: yes; in use flat: yes; goroutines flat: yes") {
			t.Errorf("%v a minute: %q, want %q", slope, s, want)
		}
	}
	short := synthetic.SoakRounds(nil, 50e6)
	for i := range short {
		for k := range short[i].Series["rss_bytes"] {
			short[i].Series["rss_bytes"][k].Seconds /= 10
		}
	}
	if s := said(t, synthetic.Document(synthetic.SoakScenario(), short), "dewpond: "); !strings.Contains(s, "RSS watched for too short a time to judge") {
		t.Errorf("30 s of it: %q", s)
	}
	pressed := synthetic.Document(synthetic.SoakScenario(), synthetic.SoakRounds(map[string]float64{"pressure_at_rest": 1}, 0))
	said(t, pressed, "Pressure was not low yet")
	if why := words.Withheld(pressed); why != "" {
		t.Errorf("it has a verdict, and says there is none: %s", why)
	}
}
