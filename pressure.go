package dewpond

import (
	"os"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/pressure"
)

// ticker ticks what decays in all pools of the process.
var ticker = decay.NewTicker(haste, gather)

// processTicker returns ticker. In the explorer each pool has one of its own, which its run alone has used.
func processTicker() *decay.Ticker {
	if atomics.Explored {
		return decay.NewTicker(haste, gather)
	}
	return ticker
}

// gather moves what processors have for themselves to the depots, in one grace period.
func gather(all []decay.Idle) {
	engines := make([]*magazine.Engine, len(all))
	for i := range all {
		engines[i] = all[i].(*magazine.Engine)
	}
	magazine.Gather(engines)
}

// haste returns how fast decay must be at the current level of pressure.
func haste() decay.Haste {
	switch pressure.Current() {
	case pressure.High:
		return decay.AllAtOnce
	case pressure.Medium:
		return decay.Hurry
	}
	return decay.NoHaste
}

// tierEnvironment is the variable that has all pools of the process free the blocks that their
// bounds have no room for.
const tierEnvironment = "DEWPOND_TIER"

// tierUnless returns whether blocks may go to and come from second tiers now, for a pool that may have
// one, and nil if off or the environment forbids it.
func tierUnless(off bool) func() bool {
	if off || os.Getenv(tierEnvironment) == "off" {
		return nil
	}
	if keepApart() { // what belongs to a bubble must not leave it
		return func() bool { return !bubble.Inside() }
	}
	return always
}

// spilled returns at most how many bytes the second tiers of all pools have.
func spilled() (bytes int64) {
	walk(func(engines []*magazine.Engine) {
		for _, e := range engines {
			bytes += e.Spilled()
		}
	})
	return bytes
}

// always is so under pressure too: what is in a second tier is freed by the GC cycles that pressure brings, and
// what a program allocates again instead, near its memory limit, brings more of them.
func always() bool { return true }

// beyond is what all pools may keep idle together beyond their bounds, where these follow what was
// out: a quarter of the memory limit, and nothing under pressure.
var beyond = magazine.NewAllowance(func() int64 {
	if pressure.Current() != pressure.Low {
		return 0
	}
	return pressure.Limit() / 4
})

// beyondIf returns beyond for a pool whose bound follows what was out, and nil for others.
func beyondIf(follows bool) *magazine.Allowance {
	if follows {
		return beyond
	}
	return nil
}
