package dewpond

import (
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/pressure"
)

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
