//go:build dewpond_delay

package main

import "os"

// delays returns which slow paths of dewpond this build makes 10 microseconds slower. It reads
// the same variable as internal/magazine/delay_on.go, which has checked it at program start.
func delays() (string, error) {
	if list := os.Getenv("DEWPOND_DELAY"); list != "" {
		return list, nil
	}
	return "none", nil
}
