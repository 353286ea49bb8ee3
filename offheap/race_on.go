//go:build race

package offheap

const raceDetector = true
