//go:build !linux

package guardpage

import "runtime"

func thisSystem() (s system, why string) { return system{}, "not on " + runtime.GOOS }
