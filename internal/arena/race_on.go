//go:build race

package arena

// raceDetector says that the race detector must see, by the words of blocks, what
// happens before what.
const raceDetector = true
