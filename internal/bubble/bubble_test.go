package bubble

import (
	"math"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func TestBubblesHaveNumbers(t *testing.T) {
	if n := Of(time.Now()); n != 0 || In(time.Now()) {
		t.Errorf("outside of bubbles the number is %d", n)
	}
	seen := map[uint64]bool{0: true, unnumbered: true}
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			n := Of(time.Now())
			if seen[n] || !In(time.Now()) {
				t.Errorf("a bubble has the number %d", n)
			}
			seen[n] = true
			inGoroutine := make(chan uint64)
			go func() { inGoroutine <- Of(time.Now()) }()
			if other := <-inGoroutine; other != n {
				t.Errorf("one bubble has the numbers %d and %d", n, other)
			}
		})
	}
}

// A stamp is compared with the clock that made it. By another clock it was made long ago.
func TestStamps(t *testing.T) {
	outside := time.Now()
	early := StampOf(outside)
	if d := Since(early, outside.Add(time.Minute)); d != time.Minute {
		t.Errorf("a stamp of a minute ago is %v old", d)
	}
	var inside Stamp
	synctest.Test(t, func(t *testing.T) {
		if d := Since(early, time.Now()); d != math.MaxInt64 {
			t.Errorf("a stamp from outside is %v old in a bubble", d)
		}
		inside = StampOf(time.Now())
		time.Sleep(time.Minute)
		if d := Since(inside, time.Now()); d != time.Minute {
			t.Errorf("a stamp of a minute ago is %v old in a bubble", d)
		}
		inside = StampOf(time.Now())
	})
	if d := Since(inside, outside); d != math.MaxInt64 {
		t.Errorf("a stamp from a bubble is %v old outside", d)
	}
	synctest.Test(t, func(t *testing.T) { // its clock starts anew
		if d := Since(inside, time.Now()); d != math.MaxInt64 {
			t.Errorf("a stamp from a bubble is %v old in a later one", d)
		}
	})
}

func TestSleepers(t *testing.T) {
	var s Sleepers
	if !s.InReach() || !s.Admit(0) || !s.Admit(0) || s.Admit(7) || !s.InReach() || !s.Sharing() {
		t.Error("two waiters outside of bubbles: any call can wake them, and no waiter in a bubble is admitted")
	}
	s.Leave()
	s.Leave()
	synctest.Test(t, func(t *testing.T) {
		if !s.Admit(Of(time.Now())) || !s.InReach() || !s.Sharing() || s.Bubble() != Of(time.Now()) {
			t.Error("a waiter in the caller's bubble is out of reach")
		}
	})
	if s.InReach() || s.Sharing() || s.Admit(0) {
		t.Error("a waiter in a bubble is in reach outside of it")
	}
	s.Leave()
	if !s.InReach() || !s.Admit(0) {
		t.Error("the bubble is remembered after the last waiter left")
	}
}
