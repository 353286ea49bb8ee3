package memory

import (
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

func TestGauge(t *testing.T) {
	var g Gauge
	var wg go125.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				g.Map(1 << 20)
				g.Commit(8192)
				g.Commit(-4096)
				if g.Ranges() < 1 || g.Reserved() < 1<<20 || g.Committed() < 4096 {
					t.Error("less than this goroutine alone has")
				}
				g.Commit(-4096)
				g.Unmap(1 << 20)
			}
		})
	}
	wg.Wait()
	g.Map(3)
	g.Commit(2)
	if g.Ranges() != 1 || g.Reserved() != 3 || g.Committed() != 2 {
		t.Errorf("%d ranges, %d bytes reserved, %d committed", g.Ranges(), g.Reserved(), g.Committed())
	}
}
