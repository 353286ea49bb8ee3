package dewpond_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

// A padded is a bytes.Buffer that shares its cache lines with no other: which ones
// do is an accident of when they were allocated, and costs more than any pool.
type padded struct {
	bytes.Buffer
	_ [128 - 40]byte
}

// BenchmarkPool is a Get, a write and a Put of a Pool, and its control the same
// through a sync.Pool of pointers with the same reset.
func BenchmarkPool(b *testing.B) {
	trades := dewpond.MustPool(dewpond.PoolOptions[trade]{Name: "trades"})
	theirTrades := sync.Pool{New: func() any { return new(trade) }}
	versus(b, "zero", func(n int) {
		for range n {
			v := trades.Get()
			v.ID = 1
			trades.Put(v)
		}
	}, func(n int) {
		for range n {
			v := theirTrades.Get().(*trade)
			v.ID = 1
			*v = trade{}
			theirTrades.Put(v)
		}
	})

	buffers := dewpond.MustPool(dewpond.PoolOptions[padded]{Name: "buffers"})
	theirBuffers := sync.Pool{New: func() any { return new(padded) }}
	versus(b, "reset", func(n int) {
		for range n {
			v := buffers.Get()
			v.WriteByte(1)
			buffers.Put(v)
		}
	}, func(n int) {
		for range n {
			v := theirBuffers.Get().(*padded)
			v.WriteByte(1)
			v.Reset()
			theirBuffers.Put(v)
		}
	})

	small := func(b *padded) bool { return b.Cap() < 64<<10 }
	kept := dewpond.MustPool(dewpond.PoolOptions[padded]{Name: "kept", Keep: small})
	versus(b, "keep", func(n int) {
		for range n {
			v := kept.Get()
			v.WriteByte(1)
			kept.Put(v)
		}
	}, func(n int) {
		for range n {
			v := theirBuffers.Get().(*padded)
			v.WriteByte(1)
			if small(v) {
				v.Reset()
				theirBuffers.Put(v)
			}
		}
	})
}
