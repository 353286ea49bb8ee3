package dewpond_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"math/rand/v2"
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

// BenchmarkReset compares objects that are reset to a destination, in the form of the examples, with a
// sync.Pool whose users reset after Get. A gzip.Writer is also used where other work touches 1, 4 or
// 64 MiB of memory between two uses: what is reset before Put is cold again after the next Get.
func BenchmarkReset(b *testing.B) {
	text := bytes.Repeat([]byte("the quick brown fox, "), 100) // 2.1 KB
	to := new(bytes.Buffer)

	zippers := dewpond.MustPool(dewpond.PoolOptions[zipper]{
		New:     func() *zipper { return &zipper{Writer: gzip.NewWriter(nil)} },
		Reset:   func(z *zipper) { z.to.Writer = nil },
		MaxIdle: 32,
	})
	writers := sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	varied := make([]byte, 11_000) // of which every place has another hash, as in what people write
	random := rand.New(rand.NewPCG(1, 1))
	for i := range varied {
		varied[i] = "abcdefghij klmno"[random.IntN(16)]
	}
	zip := func() {
		to.Reset()
		z := zippers.Get()
		z.to.Writer = to
		z.Reset(&z.to)
		z.Write(varied)
		z.Close()
		zippers.Put(z)
	}
	theirZip := func() {
		to.Reset()
		w := writers.Get().(*gzip.Writer)
		w.Reset(to)
		w.Write(varied)
		w.Close()
		writers.Put(w)
	}
	other := make([]byte, 64<<20)
	for _, between := range []int{0, 1, 4, 64} {
		b.Run(fmt.Sprintf("gzip/between=%dMiB", between), func(b *testing.B) {
			compareUses(b, 400/(between+4), func(use func()) {
				if between == 0 {
					use() // what is used is as warm as one use leaves it
				}
				for at := 0; at < between<<20; at += 64 {
					other[at]++
				}
			}, zip, theirZip)
		})
	}

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
