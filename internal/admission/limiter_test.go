package admission

import (
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func allowed(l *limiter) (n int) {
	for n < 100 && l.allow(1) {
		n++
	}
	return n
}

func TestLimiterSavesUpOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limiter
		if l.init(0); allowed(&l) != 100 || l.delay(1) != 0 {
			t.Error("a limiter without a limit refuses a miss")
		}
		l.init(10)
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 10}, {0, 0}, {99 * time.Millisecond, 0}, {time.Millisecond, 1}, {500 * time.Millisecond, 5}, {time.Hour, 10}} {
			time.Sleep(step.after)
			if n := allowed(&l); n != step.want {
				t.Errorf("%v later it allows %d, want %d", step.after, n, step.want)
			}
		}
		if d := l.delay(1); d != 100*time.Millisecond {
			t.Errorf("the next is allowed in %v", d)
		}
		l.restore(1<<40, 1) // of another bubble
		if allowed(&l) != 0 {
			t.Error("what another bubble gave back is allowed here")
		}
	})
}

// Each bubble starts anew, with its own clock. Only mostBubbles are remembered.
func TestLimiterCountsByEachClock(t *testing.T) {
	var l limiter
	l.init(1)
	if allowed(&l) != 1 {
		t.Error("outside of bubbles")
	}
	for range mostBubbles + 10 {
		synctest.Test(t, func(t *testing.T) {
			if allowed(&l) != 1 {
				t.Error("in a bubble")
			}
		})
	}
	if len(l.bubbles) != mostBubbles {
		t.Errorf("%d bubbles are remembered", len(l.bubbles))
	}
}
