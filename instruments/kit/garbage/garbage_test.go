package garbage

import (
	"runtime"
	"testing"
)

// It ends even if more garbage is due than the machine can make.
func TestStop(t *testing.T) {
	g := Start(1e14)
	for bytes, _ := g.Made(); bytes == 0; bytes, _ = g.Made() {
		runtime.Gosched()
	}
	g.Pause(func() {
		before, _ := g.Made()
		runtime.Gosched()
		if after, _ := g.Made(); after != before {
			t.Errorf("%d bytes were made in a pause", after-before)
		}
	})
	g.Stop() // if it never returns, the test runs into its timeout
}
