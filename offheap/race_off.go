//go:build !race

package offheap

// raceDetector says that the blocks' bytes must be on the Go heap, where the race
// detector sees them.
const raceDetector = false
