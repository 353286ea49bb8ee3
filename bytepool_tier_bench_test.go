package dewpond_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

// BenchmarkBeyondBound has bursts of four times as many blocks and objects as the pool may keep idle,
// compared with a sync.Pool. The second tier takes three quarters of each burst. No GC cycle
// comes between, so both find all of them.
func BenchmarkBeyondBound(b *testing.B) {
	const burst = 4096
	for _, size := range []int{128, 4096, 64 << 10} {
		n := burst
		if size > 4096 {
			n /= 8
		}
		b.Run(fmt.Sprint("bytes/", size), func(b *testing.B) {
			p := newPool(b, dewpond.BytePoolOptions{MaxIdleBytes: int64(n * size / 4), Zero: dewpond.ZeroNever})
			theirs := sync.Pool{New: func() any { s := make([]byte, size); return &s }}
			blocks, control := make([][]byte, n), make([]*[]byte, n)
			compareRoundsOf(b, n, func(int) {
				for i := range blocks {
					blocks[i] = p.Get(size)
				}
				for i := range blocks {
					p.Put(blocks[i])
				}
			}, func(int) {
				for i := range control {
					control[i] = theirs.Get().(*[]byte)
				}
				for i := range control {
					theirs.Put(control[i])
				}
			})
		})
	}
	b.Run("objects", func(b *testing.B) {
		type object struct{ _ [128]byte }
		p := dewpond.MustPool(dewpond.PoolOptions[object]{MaxIdle: burst / 4, Reset: func(*object) {}})
		defer p.Close()
		theirs := sync.Pool{New: func() any { return new(object) }}
		var objects, control [burst]*object
		compareRoundsOf(b, burst, func(int) {
			for i := range objects {
				objects[i] = p.Get()
			}
			for i := range objects {
				p.Put(objects[i])
			}
		}, func(int) {
			for i := range control {
				control[i] = theirs.Get().(*object)
			}
			for i := range control {
				theirs.Put(control[i])
			}
		})
	})
}
