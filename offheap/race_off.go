//go:build !race

package offheap

// raceDetector: the blocks' bytes must be where it looks.
const raceDetector = false
