//go:build race

package arena

// raceDetector: the words of blocks must show it what happens before what.
const raceDetector = true
