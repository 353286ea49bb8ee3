package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

// BenchmarkBodyPool is bodies of many sizes that a decompressor appends byte by byte: from a
// BodyPool's blocks, and in turn from blocks of a small size that are put back as they are
// (put), from blocks of the right size, which only who knows it can ask for (known), and
// from nothing (make). bare is Get and Put of a body of one byte, beside a Get and Put of
// the pool itself.
func BenchmarkBodyPool(b *testing.B) {
	all := packets(256)
	var sizes []int
	for _, p := range all {
		sizes = append(sizes, len(decompress(nil, p)))
	}
	pool := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	other := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	bodies := pool.Bodies()
	hint := func(n int) {
		for i := range n {
			bodies.Put(decompress(bodies.Get(), all[i%len(all)]))
		}
	}
	for _, control := range []struct {
		name string
		body func(i int)
	}{
		{"put", func(i int) { other.Put(decompress(other.Get(512)[:0], all[i])) }},
		{"known", func(i int) { other.Put(decompress(other.Get(sizes[i])[:0], all[i])) }},
		{"make", func(i int) { sink = decompress(nil, all[i]) }},
	} {
		versus(b, control.name, hint, func(n int) {
			for i := range n {
				control.body(i % len(all))
			}
		})
	}
	small := pool.Bodies()
	versus(b, "bare", func(n int) {
		for range n {
			small.Put(append(small.Get(), 1))
		}
	}, func(n int) {
		for range n {
			other.Put(append(other.Get(512)[:0], 1))
		}
	})
}
