package dewpond_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
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

// BenchmarkBodySizes is 100 bodies at a time whose sizes rise, fall, are of two kinds or have a
// heavy tail: from a BodyPool, and from a sync.Pool of *[]byte that keeps what append has made
// of them. It reports how many Gets found a block, and for each byte of a body how many bytes it
// held and how many were allocated, all after the first quarter of the bodies.
func BenchmarkBodySizes(b *testing.B) {
	const bodies, atOnce, most = 40_000, 100, 1 << 20
	oneIn := func(k, large int) func(*rand.Rand, float64) int {
		return func(r *rand.Rand, _ float64) int {
			if r.IntN(k) == 0 {
				return large
			}
			return 200
		}
	}
	for _, load := range []struct {
		name string
		size func(r *rand.Rand, past float64) int // past is how much of the run is, from 0 to 1
	}{
		{"one-size-5000", func(*rand.Rand, float64) int { return 5000 }},
		{"uniform-to-32K", func(r *rand.Rand, _ float64) int { return 1 + r.IntN(32<<10) }},
		{"rising-200-to-1M", func(_ *rand.Rand, past float64) int { return int(200 * math.Pow(5000, past)) }},
		{"falling-1M-to-200", func(_ *rand.Rand, past float64) int { return int(200 * math.Pow(5000, 1-past)) }},
		{"200-and-100K-in-turn-by-4000", func(_ *rand.Rand, past float64) int { return []int{200, 100_000}[int(past*10)%2] }},
		{"200-one-in-100-1M", oneIn(100, most)},
		{"200-one-in-12-1M", oneIn(12, most)},
		{"200-one-in-12-8K", oneIn(12, 8<<10)},
		{"200-one-in-3-1M", oneIn(3, most)},
		{"lognormal-4K-sigma-1", func(r *rand.Rand, _ float64) int { return min(most, 1+int(4096*math.Exp(r.NormFloat64()))) }},
		{"lognormal-2K-sigma-2", func(r *rand.Rand, _ float64) int { return min(most, 1+int(2048*math.Exp(2*r.NormFloat64()))) }},
		{"pareto-200-alpha-1.1", func(r *rand.Rand, _ float64) int { return int(min(most, 200*math.Pow(1-r.Float64(), -1/1.1))) }},
	} {
		data := make([]byte, most)
		run := func(b *testing.B, get func() []byte, put func([]byte), count func() (gets, hits uint64)) {
			var gets, hits uint64
			var held, length, allocated float64
			for range b.N {
				r := rand.New(rand.NewPCG(1, 2))
				out := make([][]byte, atOnce)
				var m runtime.MemStats
				for i := 0; i < bodies; i += atOnce {
					if i == bodies/4 {
						runtime.ReadMemStats(&m)
						g, h := count()
						gets, hits, allocated = gets-g, hits-h, allocated-float64(m.TotalAlloc)
					}
					for j := range out {
						n := load.size(r, float64(i+j)/bodies)
						out[j] = append(get(), data[:n]...)
						if i >= bodies/4 {
							held, length = held+float64(cap(out[j])), length+float64(n)
						}
					}
					for j, body := range out {
						put(body)
						out[j] = nil
					}
				}
				runtime.ReadMemStats(&m)
				g, h := count()
				gets, hits, allocated = gets+g, hits+h, allocated+float64(m.TotalAlloc)
			}
			b.ReportMetric(100*float64(hits)/float64(gets), "%hits")
			b.ReportMetric(held/length, "held/B")
			b.ReportMetric(allocated/length, "allocated/B")
			b.ReportMetric(0, "ns/op")
		}
		b.Run(load.name+"/dewpond", func(b *testing.B) {
			p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
			bodies := p.Bodies()
			run(b, bodies.Get, bodies.Put, func() (gets, hits uint64) { s := p.Stats(); return s.Gets, s.Hits })
		})
		b.Run(load.name+"/sync.Pool", func(b *testing.B) {
			var p sync.Pool
			var gets, hits uint64
			run(b, func() []byte {
				gets++
				body, ok := p.Get().(*[]byte)
				if !ok {
					return nil
				}
				hits++
				return (*body)[:0]
			}, func(body []byte) { p.Put(&body) }, func() (uint64, uint64) { return gets, hits })
		})
	}
}
