package account

import (
	"encoding/json"
	"runtime"
	"testing"
)

var kept [][]byte

// What is allocated between two Snapshots is counted, by way of JSON too; the collections that a
// Snapshot makes itself are not.
func TestBetween(t *testing.T) {
	const n = 1000
	a := Take()
	for range n {
		kept = append(kept, make([]byte, 10_000))
	}
	b := Take()
	text, err := json.Marshal([]Snapshot{a, b})
	if err != nil {
		t.Fatal(err)
	}
	var both []Snapshot
	if err := json.Unmarshal(text, &both); err != nil {
		t.Fatal(err)
	}
	w := Between(both[0], both[1])
	if w.Bytes < n*10_000 || w.Bytes > 2*n*10_000 || w.Allocs < n || w.Allocs > 10*n {
		t.Errorf("%d bytes in %d allocations, want some more than %d in %d", w.Bytes, w.Allocs, n*10_000, n)
	}
	if w.PeakRSS == 0 && runtime.GOOS == "linux" {
		t.Error("the peak of the resident memory is not known")
	}
	if again := Between(b, Take()); again.Cycles > 0 || again.Bytes > 1<<20 || again.GCShare > 0 || again.Stops > 0 {
		t.Errorf("nothing has happened, and yet: %+v", again)
	}
}
