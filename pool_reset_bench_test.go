package dewpond_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

// A jsonEncoder is an encoder with the buffer that it writes to.
type jsonEncoder struct {
	bytes.Buffer
	*json.Encoder
}

func newJSONEncoder() *jsonEncoder {
	e := new(jsonEncoder)
	e.Encoder = json.NewEncoder(&e.Buffer)
	return e
}

// BenchmarkReset uses objects that are reset to a destination, in the form of the examples, beside
// sync.Pool used well: one reset for each use, after Get.
func BenchmarkReset(b *testing.B) {
	text := bytes.Repeat([]byte("the quick brown fox, "), 100) // 2.1 KB
	to := new(bytes.Buffer)

	zippers := dewpond.MustPool(dewpond.PoolOptions[zipper]{
		New:     func() *zipper { z := new(zipper); z.Writer = gzip.NewWriter(&z.to); return z },
		Reset:   func(z *zipper) { z.to.Writer = nil; z.Reset(&z.to) },
		MaxIdle: 32,
	})
	writers := sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	b.Run("gzip", func(b *testing.B) {
		compareRoundsOf(b, 1000, func(n int) {
			for range n {
				to.Reset()
				z := zippers.Get()
				z.to.Writer = to
				z.Write(text)
				z.Close()
				zippers.Put(z)
			}
		}, func(n int) {
			for range n {
				to.Reset()
				w := writers.Get().(*gzip.Writer)
				w.Reset(to)
				w.Write(text)
				w.Close()
				writers.Put(w)
			}
		})
	})

	readers := dewpond.MustPool(dewpond.PoolOptions[bufio.Reader]{
		New:   func() *bufio.Reader { return bufio.NewReaderSize(nil, 4096) },
		Reset: func(r *bufio.Reader) { r.Reset(nil) },
	})
	theirReaders := sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4096) }}
	from := bytes.NewReader(text)
	words := func(r *bufio.Reader) {
		for _, err := r.ReadSlice(','); err == nil; _, err = r.ReadSlice(',') {
		}
	}
	b.Run("bufio", func(b *testing.B) {
		compareRoundsOf(b, 20_000, func(n int) {
			for range n {
				from.Reset(text)
				r := readers.Get()
				r.Reset(from)
				words(r)
				readers.Put(r)
			}
		}, func(n int) {
			for range n {
				from.Reset(text)
				r := theirReaders.Get().(*bufio.Reader)
				r.Reset(from)
				words(r)
				theirReaders.Put(r)
			}
		})
	})

	encoders := dewpond.MustPool(dewpond.PoolOptions[jsonEncoder]{New: newJSONEncoder, Reset: func(e *jsonEncoder) { e.Reset() }})
	theirEncoders := sync.Pool{New: func() any { return newJSONEncoder() }}
	value := trade{ID: 7, Name: "alice", Email: "a@x"}
	b.Run("json", func(b *testing.B) {
		compareRoundsOf(b, 20_000, func(n int) {
			for range n {
				e := encoders.Get()
				e.Encode(&value)
				encoders.Put(e)
			}
		}, func(n int) {
			for range n {
				e := theirEncoders.Get().(*jsonEncoder)
				e.Reset()
				e.Encode(&value)
				theirEncoders.Put(e)
			}
		})
	})

	type digest struct{ hash.Hash }
	digests := dewpond.MustPool(dewpond.PoolOptions[digest]{New: func() *digest { return &digest{sha256.New()} }, Reset: func(d *digest) { d.Reset() }})
	theirDigests := sync.Pool{New: func() any { return &digest{sha256.New()} }}
	var sum [sha256.Size]byte
	b.Run("hash", func(b *testing.B) {
		compareRoundsOf(b, 20_000, func(n int) {
			for range n {
				d := digests.Get()
				d.Write(text)
				d.Sum(sum[:0])
				digests.Put(d)
			}
		}, func(n int) {
			for range n {
				d := theirDigests.Get().(*digest)
				d.Reset()
				d.Write(text)
				d.Sum(sum[:0])
				theirDigests.Put(d)
			}
		})
	})
}
