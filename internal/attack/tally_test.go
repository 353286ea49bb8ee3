package attack

import (
	"fmt"
	"sync/atomic"
)

// A tally counts what was done, to show that something was.
type tally struct {
	rounds, pools, calls, waits, cancelled, refused, closed, panics, dropped atomic.Int64
}

func (a *tally) String() string {
	return fmt.Sprintf("%d rounds, %d pools (%d closed in use, %d dropped), %d calls, %d waits (%d cancelled), %d refusals, %d panics",
		a.rounds.Load(), a.pools.Load(), a.closed.Load(), a.dropped.Load(), a.calls.Load(), a.waits.Load(), a.cancelled.Load(), a.refused.Load(), a.panics.Load())
}
