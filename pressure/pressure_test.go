package pressure_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
	internal "github.com/dewpond/dewpond/internal/pressure"
	"github.com/dewpond/dewpond/pressure"
)

// The tests begin with low pressure, whatever the machine that they run on says.
func init() { internal.Force(internal.Low) }

// force makes the level what a test says, as a reading would.
func force(level pressure.Level) { internal.Force(internal.Level(level)) }

func TestLevelNames(t *testing.T) {
	got := fmt.Sprint(pressure.Low, pressure.Medium, pressure.High)
	if got != "low medium high" {
		t.Errorf("%s", got)
	}
}

func TestWatch(t *testing.T) {
	defer force(pressure.Low)
	synctest.Test(t, func(t *testing.T) {
		force(pressure.Low)
		var mu sync.Mutex
		var seen []pressure.Level
		stop := pressure.Watch(func(l pressure.Level) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, l)
		})
		for _, level := range []pressure.Level{pressure.Low, pressure.High, pressure.High, pressure.Medium} {
			force(level)
			if pressure.Current() != level {
				t.Errorf("Current() = %v, want %v", pressure.Current(), level)
			}
			time.Sleep(2300 * time.Millisecond) // not at a moment at which it looks
		}
		stop()
		stop()
		force(pressure.Low)
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if want := []pressure.Level{pressure.High, pressure.Medium}; !slices.Equal(seen, want) {
			t.Errorf("called with %v, want %v", seen, want)
		}
	})
}

// Whatever Current has shown between two looks is heard, in order: also a level that was
// there for a moment.
func TestWatchHearsEachLevel(t *testing.T) {
	defer force(pressure.Low)
	synctest.Test(t, func(t *testing.T) {
		force(pressure.Medium)
		var seen []pressure.Level
		stop := pressure.Watch(func(l pressure.Level) { seen = append(seen, l) })
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		want := []pressure.Level{pressure.Medium}
		for range 30 {
			for _, level := range []pressure.Level{pressure.High, pressure.Medium, pressure.Low, pressure.Medium} {
				force(level)
				want = append(want, pressure.Current())
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		stop()
		synctest.Wait()
		if !slices.Equal(seen, want) {
			t.Errorf("called with %v, want %v", seen, want)
		}
	})
}

// Of what it could not hear while it was busy it hears the last.
func TestWatchIsBusy(t *testing.T) {
	defer force(pressure.Low)
	synctest.Test(t, func(t *testing.T) {
		force(pressure.Medium)
		var seen []pressure.Level
		stop := pressure.Watch(func(l pressure.Level) {
			if seen = append(seen, l); len(seen) == 1 {
				time.Sleep(time.Hour)
			}
		})
		time.Sleep(time.Second)
		for range 1000 {
			force(pressure.High)
			force(pressure.Medium)
		}
		time.Sleep(time.Hour)
		stop()
		synctest.Wait()
		if n := len(seen); n < 50 || n > 100 || seen[1] != pressure.High || seen[n-1] != pressure.Medium {
			t.Errorf("called %d times: %v", n, seen)
		}
	})
}

func TestWatchNothing(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "Watch(nil)") {
			t.Errorf("panics with %q", text)
		}
	}()
	pressure.Watch(nil)
}

// A function that is stopped at once is not called later.
func TestWatchStopsAtOnce(t *testing.T) {
	defer force(pressure.Low)
	synctest.Test(t, func(t *testing.T) {
		force(pressure.Low) // of which nothing is heard, should it look before the stop
		pressure.Watch(func(pressure.Level) { t.Error("called after stop") })()
		force(pressure.High)
		time.Sleep(time.Minute)
	})
}

// The first look and a stop meet: the race detector must be content.
func TestWatchStopsDuringALook(t *testing.T) {
	for range 300 {
		stop := pressure.Watch(func(pressure.Level) {})
		runtime.Gosched()
		stop()
	}
}
