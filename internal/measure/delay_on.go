//go:build dewpond_delay

package measure

import "os"

// Delays says which slow paths of dewpond this build makes 10 microseconds slower, as
// internal/magazine/delay_on.go has it from the same variable, which has checked it
// when the program started.
func Delays() (string, error) {
	if list := os.Getenv("DEWPOND_DELAY"); list != "" {
		return list, nil
	}
	return "none", nil
}
