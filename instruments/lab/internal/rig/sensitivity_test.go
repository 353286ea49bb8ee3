package rig

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

func demandOf(rate float64, pool queueing.Pool) demanded {
	const hold = 10 * time.Millisecond
	return demanded{pool, queueing.Demand{Rate: rate, Hold: queueing.Exponential(hold), Dial: time.Millisecond, Patience: time.Second}, hold}
}

// The load that is found is the least at which both bounds move something: a little below it one does not.
func TestMovingRate(t *testing.T) {
	base := demandOf(300, queueing.Pool{Open: 50, Idle: 20})
	at, found := movingRate(base)
	if !found || at <= 300 {
		t.Fatalf("%v, %v", at, found)
	}
	moves := func(rate float64) bool {
		d := base
		d.demand.Rate = rate
		return ofOpen.moves(d) && ofIdle.moves(d)
	}
	if !moves(at) || moves(0.9*at) {
		t.Errorf("at %v: %v, a tenth below: %v", at, moves(at), moves(0.9*at))
	}
	base.demand.Rate = at
	if again, found := movingRate(base); !found || again != at {
		t.Errorf("a load at which something moves is left for %v", again)
	}
	if _, found := movingRate(demandOf(10, queueing.Pool{Open: 1, Idle: 1})); found {
		t.Error("a pool of one connection has no bound that a fifth changes, and one was found to move")
	}
}

// Less than a tenth is no direction, and neither is what nobody would tell from none.
func TestDirection(t *testing.T) {
	for _, c := range []struct {
		less, more float64
		want       int
	}{{1, 2, 1}, {2, 1, -1}, {1, 1.05, 0}, {0.04, 0.01, 0}, {0, 1, 1}} {
		if got := direction(c.less, c.more, fewMade); got != c.want {
			t.Errorf("%v and %v: %d, want %d", c.less, c.more, got, c.want)
		}
	}
}

// A lifetime that nothing lives for is shortened until it is seen.
func TestMovingLifetime(t *testing.T) {
	base := demandOf(3000, queueing.Pool{Open: 50, Idle: 50, Lifetime: 30 * time.Minute})
	got, found := movingLifetime(base)
	if !found || got >= base.pool.Lifetime {
		t.Fatalf("%v, %v", got, found)
	}
	base.pool.Lifetime = got
	if trial := ofLifetime.try(base, lookArrivals, 1); trial[0].MadePerSecond() <= trial[2].MadePerSecond() {
		t.Errorf("a shorter life makes %v connections a second, a longer one %v", trial[0].MadePerSecond(), trial[2].MadePerSecond())
	}
}

// Each parameter's row has another figure in its cells than as it is.
func TestSensitivity(t *testing.T) {
	for _, given := range []amount.Rate{300, 3500} {
		c := &poolsCommand{Hold: 10 * time.Millisecond, Open: 50, Idle: 20, Lifetime: 30 * time.Minute, Patience: time.Second, Rate: given}
		var out strings.Builder
		if err := c.sensitivity(&out, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(out.String(), "as it is")
		rows := strings.Split(strings.TrimSpace(table), "\n")[1:]
		if len(rows) != 4 {
			t.Fatalf("%d rows:\n%s", len(rows), out.String())
		}
		for _, row := range rows {
			cells := regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(row), -1)
			if len(cells) != 4 || cells[1] == cells[3] {
				t.Errorf("nothing moves: %s", row)
			}
		}
	}
}
