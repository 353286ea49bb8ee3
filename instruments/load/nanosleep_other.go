//go:build !linux

package load

import "time"

func nanosleep(d time.Duration) { time.Sleep(d) }
