//go:build race

package contender

const raceEnabled = true
