package dewpond_test

import (
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

// BenchmarkZeroValue is a Get, a write and a Put of the zero value of a pool. Its
// control is a pool that a constructor has made, and then the zero sync.Pool.
func BenchmarkZeroValue(b *testing.B) {
	var zero dewpond.BytePool
	made := newPool(b, dewpond.BytePoolOptions{Name: "made"})
	var theirs sync.Pool
	b.Run("BytePool", func(b *testing.B) {
		ours := func(n int) { ourLoop(&zero, 512, n) }
		versus(b, "made", ours, func(n int) { ourLoop(made, 512, n) })
		versus(b, "sync", ours, func(n int) {
			for range n {
				v, _ := theirs.Get().(*[512]byte)
				if v == nil {
					v = new([512]byte)
				}
				v[0], v[len(v)-1] = 1, 1
				clear(v[:])
				theirs.Put(v)
			}
		})
	})

	var zeroSlices dewpond.SlicePool[byte]
	madeSlices := dewpond.MustSlicePool(dewpond.SlicePoolOptions[byte]{Name: "made"})
	b.Cleanup(func() { madeSlices.Close() })
	b.Run("SlicePool", func(b *testing.B) {
		versus(b, "made", func(n int) { useSlices(&zeroSlices, n) }, func(n int) { useSlices(madeSlices, n) })
	})

	var zeroTrades dewpond.Pool[trade]
	madeTrades := newObjects(b, dewpond.PoolOptions[trade]{Name: "made"})
	var theirTrades sync.Pool
	b.Run("Pool", func(b *testing.B) {
		ours := func(n int) { useTrades(&zeroTrades, n) }
		versus(b, "made", ours, func(n int) { useTrades(madeTrades, n) })
		versus(b, "sync", ours, func(n int) {
			for range n {
				v, _ := theirTrades.Get().(*trade)
				if v == nil {
					v = new(trade)
				}
				v.ID = 1
				*v = trade{}
				theirTrades.Put(v)
			}
		})
	})
}

func useSlices(p *dewpond.SlicePool[byte], n int) {
	for range n {
		s := p.Get(512)
		s[0] = 1
		p.Put(s)
	}
}

func useTrades(p *dewpond.Pool[trade], n int) {
	for range n {
		v := p.Get()
		v.ID = 1
		p.Put(v)
	}
}
