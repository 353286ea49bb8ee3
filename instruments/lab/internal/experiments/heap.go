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

// watchPeak looks at the heap each millisecond until the function that it returns is called, which
// returns the most that there was.
func watchPeak() (end func() uint64) {
	stop := make(chan struct{})
	most := heapBytes()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most = max(most, heapBytes())
			}
		}
	})
	return func() uint64 {
		close(stop)
		wg.Wait()
		return max(most, heapBytes())
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
