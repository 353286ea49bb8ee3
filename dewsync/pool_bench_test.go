package dewsync_test

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/turns"
)

// BenchmarkBesideSyncPool is Gets and Puts beside those of a sync.Pool, in turns: of pointers, and of
// slices, whose conversion to any allocates for both, by one goroutine and by one for each P.
// A ratio above 1 says that dewsync is slower. -benchtime 300x has 300 rounds.
func BenchmarkBesideSyncPool(b *testing.B) {
	const round = 20_000
	newBuffer, newSlice := func() any { return new(padded) }, func() any { return make([]byte, 512) }
	ours, theirs := &dewsync.Pool{New: newBuffer}, &sync.Pool{New: newBuffer}
	versus(b, "pointer", func() {
		for range round {
			v := ours.Get().(*padded)
			v.WriteByte(1)
			v.Reset()
			ours.Put(v)
		}
	}, func() {
		for range round {
			v := theirs.Get().(*padded)
			v.WriteByte(1)
			v.Reset()
			theirs.Put(v)
		}
	})
	versus(b, "pointer-bare", func() {
		for range round {
			ours.Put(ours.Get())
		}
	}, func() {
		for range round {
			theirs.Put(theirs.Get())
		}
	})
	ourSlices, theirSlices := &dewsync.Pool{New: newSlice}, &sync.Pool{New: newSlice}
	versus(b, "slice", func() {
		for range round {
			v := ourSlices.Get().([]byte)
			v[0] = 1
			ourSlices.Put(v)
		}
	}, func() {
		for range round {
			v := theirSlices.Get().([]byte)
			v[0] = 1
			//lint:ignore SA6002 boxing the slice is what is timed
			theirSlices.Put(v)
		}
	})
	versus(b, "several", func() {
		var held [16]*padded
		for range round / len(held) {
			for i := range held {
				held[i] = ours.Get().(*padded)
			}
			for _, v := range held {
				ours.Put(v)
			}
		}
	}, func() {
		var held [16]*padded
		for range round / len(held) {
			for i := range held {
				held[i] = theirs.Get().(*padded)
			}
			for _, v := range held {
				theirs.Put(v)
			}
		}
	})
}

// A padded is a bytes.Buffer that shares its cache lines with no other: which ones do is an
// accident of when they were allocated, and costs more than any pool.
type padded struct {
	bytes.Buffer
	_ [128 - 40]byte
}

func versus(b *testing.B, name string, ours, control func()) {
	b.Run(name+"/goroutines=1", func(b *testing.B) { turns.Take(b, 1, ours, control) })
	b.Run(name+"/goroutines=GOMAXPROCS", func(b *testing.B) {
		turns.Take(b, 1, func() { parallel(ours) }, func() { parallel(control) })
	})
}

// parallel runs loop in a goroutine for each P.
func parallel(loop func()) {
	var wg go125.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(loop)
	}
	wg.Wait()
}
