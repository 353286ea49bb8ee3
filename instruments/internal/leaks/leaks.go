// Package leaks is for tests: it finds the goroutines that they leave behind.
package leaks

import (
	"fmt"
	"os"

	"go.uber.org/goleak"
)

// looks is how often it is looked, for up to half a second each. What is about to end may take its
// time on a busy machine. What leaks is there at each look.
const looks = 100

// Run runs the tests and returns the exit code, which is not 0 if a goroutine is left.
func Run(tests func() int) int {
	code := tests()
	if code != 0 {
		return code
	}
	var err error
	for range looks {
		if err = goleak.Find(); err == nil {
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
