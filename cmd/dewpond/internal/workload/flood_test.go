package workload

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// flooded is a short flood whose bound is 16 blocks.
func flooded(name string) Spec {
	sp := spec(Flood, name)
	sp.Mix = Mix{{8192, 100}}
	sp.Limit, sp.Times, sp.Goroutines = 16*8192, 20, 1000
	sp.Hold.Wait = 20 * time.Millisecond
	return sp
}

// Who has a bound serves no more than it allows, and refuses the rest. Who has none serves all.
func TestFlood(t *testing.T) {
	for name, bounded := range map[string]bool{"nop": false, "make": false, "syncpool-class": false, "syncpool-bounded": true, "dewpond": true} {
		sp := flooded(name)
		sp.Rate = sp.FloodRate()
		r := round(t, sp)
		admitted := r.Figures["arrivals"] - r.Figures["dropped_arrivals"]
		if served := (1 - r.Figures["refused_share"]) * admitted; int64(served+0.5) != int64(r.Ops) {
			t.Errorf("%s: %v of %v arrivals are not refused, and %d are served", name, served, admitted, r.Ops)
		}
		if n := samples(t, r, "response"); n != int64(r.Ops) || r.Verified != r.Ops {
			t.Errorf("%s: %d times and %d blocks verified of %d that are served", name, n, r.Verified, r.Ops)
		}
		// Each of the 16 places serves one request after the other.
		most := 16 * (r.Seconds/sp.Hold.Wait.Seconds() + 1)
		if refused := r.Figures["refused_share"]; bounded && float64(r.Ops) > most || admitted > most && bounded != (refused > 0) {
			t.Errorf("%s: %d of %v are served, at most %v within the bound; refused %v", name, r.Ops, admitted, most, refused)
		}
	}
}

// Nothing is refused if no more requests are on their way than the bound has blocks. Then the
// driver drops what arrives beyond, and says so.
func TestFloodWithinTheBound(t *testing.T) {
	for _, name := range []string{"syncpool-bounded", "dewpond"} {
		sp := flooded(name)
		sp.Rate, sp.Goroutines = sp.FloodRate(), 16
		r := round(t, sp)
		if r.Figures["refused_share"] != 0 {
			t.Errorf("%s: a share of %v is refused within the bound", name, r.Figures["refused_share"])
		}
		if most := 16 * (r.Seconds/sp.Hold.Wait.Seconds() + 1); r.Figures["arrivals"] > most && r.Figures["dropped_arrivals"] == 0 {
			t.Errorf("%s: none of %v arrivals are dropped, for which 16 goroutines have no time", name, r.Figures["arrivals"])
		}
	}
}

func TestFloodRate(t *testing.T) {
	// 16 MB are 160 blocks of 100 kB, each for 0.1 s: 1600 a second, and ten times as many.
	sp := Spec{Mix: Mix{{50_000, 50}, {150_000, 50}}, Limit: 16e6, Times: 10, Hold: Hold{Wait: 100 * time.Millisecond}}
	if got := sp.FloodRate(); got < 15_999 || got > 16_001 {
		t.Errorf("%v arrivals a second, want 16000", got)
	}
}

// A pool that gives one block to all is found out.
func TestFloodTwoOwners(t *testing.T) {
	if raceEnabled {
		t.Skip("it races by design")
	}
	sp := flooded("nop")
	sp.Rate = sp.FloodRate()
	err := error(nil)
	for ; err == nil; sp.Duration *= 2 { // two requests must meet; if they never do, the test runs into its timeout
		p := &broken{}
		err = runFlood(NewJob(context.Background(), sp, func(contender.Options) contender.Pool { return p }))
	}
	if !strings.Contains(err.Error(), "two owners") {
		t.Errorf("a pool that gives one block to all passes: %v", err)
	}
}
