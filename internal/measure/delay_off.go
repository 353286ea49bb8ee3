//go:build !dewpond_delay

package measure

import (
	"errors"
	"os"
)

// Delays says which slow paths of dewpond this build makes slower: none. It is an error
// to ask for some all the same.
func Delays() (string, error) {
	if os.Getenv("DEWPOND_DELAY") != "" {
		return "", errors.New("DEWPOND_DELAY is set, but this program cannot delay anything: build it with -tags dewpond_delay")
	}
	return "", nil
}
