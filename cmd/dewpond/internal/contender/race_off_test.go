//go:build !race

package contender

const raceEnabled = false
