//go:build !((amd64 || 386) && gc && !race)

package arena

import "sync/atomic"

// issue stores out. It swaps, where a store would do, so that the race detector
// sees that it comes after the Return of the block.
func issue(state *atomic.Uint32) {
	if raceDetector {
		state.Swap(out)
		return
	}
	state.Store(out)
}
