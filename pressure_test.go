package dewpond_test

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/pressure"
)

// High pressure empties a pool at its next tick, medium four times as fast as low.
func TestDecayUnderPressure(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection gives a tick too
	for _, tt := range []struct {
		level pressure.Level
		kept  time.Duration // all, for so long
		gone  time.Duration
	}{
		{pressure.Low, 64 * time.Second, 150 * time.Second},
		{pressure.Medium, 16 * time.Second, 52 * time.Second},
		{pressure.High, time.Second, 5 * time.Second},
	} {
		for _, size := range []int{1000, 100_000} {
			synctest.Test(t, func(t *testing.T) {
				dewpond.SetLevel(tt.level)
				p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 64 * time.Second})
				hold(p, size, 100)
				time.Sleep(tt.kept)
				if got := blocks(p.Stats()); got != 100 {
					t.Errorf("%v, size %d: %d of 100 blocks are left after %v", tt.level, size, got, tt.kept)
				}
				time.Sleep(tt.gone - tt.kept)
				synctest.Wait()
				if s := p.Stats(); blocks(s) != 0 || s.Trimmed != 100 {
					t.Errorf("%v, size %d: %d blocks are left after %v, %d trimmed", tt.level, size, blocks(s), tt.gone, s.Trimmed)
				} else if s.CommittedBytes != 0 { // off the heap
					t.Errorf("%v, size %d: %d bytes are committed after %v", tt.level, size, s.CommittedBytes, tt.gone)
				}
			})
		}
	}
}
