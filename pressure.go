package dewpond

import (
	"github.com/dewpond/dewpond/internal/decay"
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
