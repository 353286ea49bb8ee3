package tool

import (
	"bytes"
	"sync"

	"github.com/dewpond/dewpond"
)

// A trade is an object of 64 bytes with pointers. It fills a cache line, so that its place on
// the heap makes no difference.
type trade struct {
	ID           int64
	Buyer, Asset string
	Price        [3]int64
}

// poolCases compare Get, a write and Put of dewpond.Pool with the same through a sync.Pool of
// pointers, with the same reset.
func poolCases() []Case {
	trades := dewpond.MustPool(dewpond.PoolOptions[trade]{Name: "bench-trades"})
	theirTrades := sync.Pool{New: func() any { return new(trade) }}
	cleared := []Alternative{
		{"dewpond.Pool", func(count int) {
			for range count {
				t := trades.Get()
				t.ID = 1
				trades.Put(t)
			}
		}},
		{"sync.Pool", func(count int) {
			for range count {
				t := theirTrades.Get().(*trade)
				t.ID = 1
				*t = trade{}
				theirTrades.Put(t)
			}
		}},
	}
	buffers := dewpond.MustPool(dewpond.PoolOptions[bytes.Buffer]{Name: "bench-buffers"})
	theirBuffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	reset := []Alternative{
		{"dewpond.Pool", func(count int) {
			for range count {
				b := buffers.Get()
				b.WriteByte(1)
				buffers.Put(b)
			}
		}},
		{"sync.Pool", func(count int) {
			for range count {
				b := theirBuffers.Get().(*bytes.Buffer)
				b.WriteByte(1)
				b.Reset()
				theirBuffers.Put(b)
			}
		}},
	}
	return []Case{
		alone("Pool", "64 B struct", cleared...), parallel("Pool", "64 B struct", cleared...),
		alone("Pool", "bytes.Buffer", reset...), parallel("Pool", "bytes.Buffer", reset...),
	}
}
