package dewpond

import "testing"

// While somebody waits, what is free for a moment is his: between a release's count
// and its look at those who wait nobody may take it.
func TestSemaphoreLetsNobodyOvertake(t *testing.T) {
	s := semaphore{limit: 2}
	if !s.tryAcquire() {
		t.Fatal("a free semaphore cannot be had")
	}
	s.waiting.Add(1)
	if s.tryAcquire() {
		t.Error("somebody who waits was overtaken")
	}
}
