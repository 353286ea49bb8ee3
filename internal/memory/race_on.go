//go:build race

package memory

// raceDetector makes Issue swap, where a store would do, so that the race detector sees
// that it comes after the Return of the block.
const raceDetector = true
