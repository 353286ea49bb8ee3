package guardpage

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var samples = flag.Int("dewpond.samples", 20_000, "how many blocks the tests of mappings sample")

// mappings returns how many there are of the process.
func mappings(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// Samples leave no mapping behind. While blocks are hidden each splits the heap's mapping in at most two
// more.
func TestMappings(t *testing.T) {
	s, why := thisSystem()
	if why != "" || sanitized != "" {
		t.Skip(why, sanitized)
	}
	const few = 8
	for _, c := range []struct {
		asked Setting
		most  int
	}{{Setting{Rate: 1}, few}, {Setting{Rate: 1, Fault: true}, 2*maxBlocks + few}} {
		t.Run(c.asked.String(), func(t *testing.T) {
			g, p := newGuard(s, "", c.asked, func() {}), &pool{}
			if g.Get(make([]byte, 100), p) == nil {
				t.Skip(g.Off())
			}
			sizes := []int{100, 1000, 4000, 5000, 9000, 20_000, 60_000}
			sample := func(n int) {
				for i := range n {
					put(t, g, p, sizes[i%len(sizes)])
				}
			}
			sample(maxBlocks) // the heap has grown
			g.mu.Lock()
			g.dropAll()
			g.mu.Unlock()
			before, most := mappings(t), 0
			for range 100 {
				sample(*samples / 100)
				most = max(most, mappings(t))
			}
			g.mu.Lock()
			g.dropAll()
			g.mu.Unlock()
			after := mappings(t)
			t.Logf("%d mappings, at most %d while %d blocks were sampled, %d after them", before, most, *samples, after)
			if most > before+c.most || after > before+few {
				t.Errorf("%d mappings have become %d, and %d when nothing was idle any more", before, most, after)
			}
			if len(p.found) != 0 {
				t.Errorf("found %v", p.found)
			}
		})
	}
}
