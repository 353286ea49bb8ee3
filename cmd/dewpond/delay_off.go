//go:build !dewpond_delay

package main

import (
	"errors"
	"os"
)

// delays returns which slow paths of dewpond this build makes slower: none. It returns an error
// if DEWPOND_DELAY asks for some.
func delays() (string, error) {
	if os.Getenv("DEWPOND_DELAY") != "" {
		return "", errors.New("DEWPOND_DELAY is set, but this program cannot delay anything: build it with -tags dewpond_delay")
	}
	return "", nil
}
