package tool

import (
	"bytes"
	"io"
	"sync"

	"github.com/valyala/bytebufferpool"

	"github.com/dewpond/dewpond"
)

// largeEvery says how the mix is made: one of that many bodies is large.
const largeEvery = 25

// bufferCases build a JSON body in a buffer and write it out. dewpond's pool clears, which is
// its default, so each body starts with zeroed memory, as in a new bytes.Buffer. The two other
// pools clear nothing.
func bufferCases() []Case {
	const small, large = 1200, 64 << 10
	return []Case{
		bufferCase("JSON body of 1.2 KB", 1, orders(small), nil, io.Discard),
		bufferCase("JSON body of 8 KB", 1, orders(8<<10), nil, io.Discard),
		bufferCase("JSON body of 200 KB", 1, orders(200<<10), nil, io.Discard),
		bufferCase("JSON mix, 4 % of 64 KB", largeEvery, orders(small), orders(large), io.Discard),
		appendCase("JSON appended, 1.2 KB", orders(small), io.Discard),
		appendCase("JSON appended, 8 KB", orders(8<<10), io.Discard),
	}
}

// appendCase builds a body in one piece: dewpond's as Buffer's documentation begins, and
// bytebufferpool's as in the other cases.
func appendCase(name string, list []order, out io.Writer) Case {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bench-buffer-append"})
	theirs := byteBufferBody(list, nil)
	return Case{Tool: "Buffer", Name: name, Cycle: 1, Alternatives: []Alternative{
		{"dewpond.Buffer", func(count int) {
			for range count {
				b := pool.Buffer()
				b.Grow(2 + longestOrder*len(list))
				b.Write(appendOrders(b.AvailableBuffer(), list))
				b.WriteTo(out)
				b.Release()
			}
		}},
		{"bytebufferpool", func(count int) {
			for range count {
				theirs(list, out)
			}
		}},
	}}
}

func bufferCase(name string, cycle int, usual, large []order, out io.Writer) Case {
	loop := func(body func([]order, io.Writer)) func(int) {
		return func(count int) {
			for i := range count {
				if large != nil && i%largeEvery == largeEvery-1 {
					body(large, out)
				} else {
					body(usual, out)
				}
			}
		}
	}
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bench-buffer"})
	return Case{Tool: "Buffer", Name: name, Cycle: cycle, Alternatives: []Alternative{
		{"dewpond.Buffer", loop(func(list []order, w io.Writer) {
			b := pool.Buffer()
			defer b.Release()
			encodeOurs(b, list)
			b.WriteTo(w)
		})},
		{"bytes.Buffer", loop(func(list []order, w io.Writer) {
			var b bytes.Buffer
			encodeStandard(&b, list)
			b.WriteTo(w)
		})},
		{"pooled bytes.Buffer", loop(pooledBody())},
		{"bytebufferpool", loop(byteBufferBody(usual, large))},
	}}
}

func pooledBody() func([]order, io.Writer) {
	pool := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	return func(list []order, w io.Writer) {
		b := pool.Get().(*bytes.Buffer)
		defer pool.Put(b)
		b.Reset()
		encodeStandard(b, list)
		b.WriteTo(w)
	}
}

// byteBufferBody uses a pool that has learned the size of the bodies, as in a service after its
// first seconds. The library decides after 42,000 bodies of one size what it makes and what it
// drops; until then it keeps everything. What it keeps then covers 95 of 100 bodies: in the mix
// it drops the large ones.
func byteBufferBody(usual, large []order) func([]order, io.Writer) {
	const learned = 45_000
	pool := new(bytebufferpool.Pool)
	var sizes [2]int
	for i, list := range [][]order{usual, large} {
		var b bytebufferpool.ByteBuffer
		encodeByteBuffer(&b, list)
		sizes[i] = b.Len()
	}
	for i := range learned {
		n := sizes[0]
		if large != nil && i%largeEvery == largeEvery-1 {
			n = sizes[1]
		}
		// The pool learns from the length alone, so nothing is written.
		b := pool.Get()
		if cap(b.B) < n {
			b.B = make([]byte, n)
		}
		b.B = b.B[:n]
		pool.Put(b)
	}
	return func(list []order, w io.Writer) {
		b := pool.Get()
		defer pool.Put(b)
		encodeByteBuffer(b, list)
		b.WriteTo(w)
	}
}
