package experiments

import (
	"runtime/metrics"
	"sync"
	"time"
)

// heapBytes returns the bytes of objects in the heap, live or not yet swept.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// markedBytes returns the bytes that the last collection has found alive, with what was allocated
// while it looked, and those of the roots: what the collector's next goal follows from.
func markedBytes() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64() + s[2].Value.Uint64()
}

// watchPeak looks at the heap each millisecond until the function that it returns is called, which
// returns the most that there was.
func watchPeak() (end func() uint64) { return watchMost(heapBytes) }

// watchMost is watchPeak for any figure.
func watchMost(read func() uint64) (end func() uint64) {
	stop := make(chan struct{})
	most := read()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most = max(most, read())
			}
		}
	})
	return func() uint64 {
		close(stop)
		wg.Wait()
		return max(most, read())
	}
}

// A record is a small object with pointers, as a service keeps in its caches.
type record struct {
	name string
	next *record
	tags []string
}

// keptRecords is the live heap of a service.
var keptRecords []*record

// keepRecords fills the live heap with about that many bytes of small objects.
func keepRecords(bytes int) {
	const each = 48 + 16 + 24 // the record, its tag's header, and rounding
	keptRecords = make([]*record, 0, bytes/each)
	var last *record
	for range bytes / each {
		last = &record{name: "a name", next: last, tags: []string{"a tag"}}
		keptRecords = append(keptRecords, last)
	}
}
