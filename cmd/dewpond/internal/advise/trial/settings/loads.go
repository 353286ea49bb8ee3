package main

import (
	"math/rand/v2"
	"sync"
)

// loads are by name. Each makes what lives from the start, and returns what allocates then.
var loads = map[string]func(seed uint64) func(*meter){"index": index, "window": window, "sessions": sessions}

// A record is what an index and a session are of: a KiB with a pointer to another.
type record struct {
	next *record
	data [127]uint64
}

// index keeps 12 MB of records, and makes answers of 1 to 16 KiB that nobody keeps.
func index(seed uint64) func(*meter) {
	random := rand.New(rand.NewPCG(seed, 1))
	records := make([]*record, 12_000)
	for i := range records {
		records[i] = &record{next: records[random.IntN(i+1)]}
	}
	return func(m *meter) {
		for answer := []byte(nil); m.add(len(answer)); {
			answer = make([]byte, 1<<10+random.IntN(15<<10))
			at := records[random.IntN(len(records))]
			for i := range answer {
				answer[i] = byte(at.data[i%len(at.data)])
			}
		}
	}
}

// window keeps the last 6000 messages, of 100 B to 4 KiB, and makes nothing else.
func window(seed uint64) func(*meter) {
	random := rand.New(rand.NewPCG(seed, 2))
	messages := make([][]byte, 6000)
	fill := func(i int) int {
		messages[i] = make([]byte, 100+random.IntN(4000))
		return len(messages[i])
	}
	for i := range messages {
		fill(i)
	}
	return func(m *meter) {
		for i := 0; m.add(fill(i % len(messages))); i++ {
		}
	}
}

// globals are scanned at each collection, as stacks are.
var globals [1 << 18]*record

// sessions has 16 goroutines on stacks of 256 KiB and more. Each gathers records and lets them go, so
// that what lives goes up and down.
func sessions(seed uint64) func(*meter) {
	for i := range globals {
		if i%64 == 0 {
			globals[i] = &record{}
		}
	}
	return func(m *meter) {
		var all sync.WaitGroup
		for i := range 16 {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			all.Go(func() { deep(200, random, m) })
		}
		all.Wait()
	}
}

// deep puts a kilobyte on the stack for each call, and does the session's work at the bottom.
func deep(calls int, random *rand.Rand, m *meter) *record {
	var frame [128]*record
	if calls > 0 {
		frame[calls%len(frame)] = deep(calls-1, random, m)
		return frame[random.IntN(len(frame))]
	}
	var kept []*record
	for most := random.IntN(1000); ; {
		r, garbage := &record{}, make([]byte, 200+random.IntN(2000))
		if kept = append(kept, r); len(kept) > most {
			kept, most = nil, random.IntN(1000)
		}
		if !m.add(1024 + len(garbage)) {
			return r
		}
	}
}
