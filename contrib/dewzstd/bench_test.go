package dewzstd_test

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/turns"
	"github.com/klauspost/compress/zstd"
)

// BenchmarkDecodeAll decompresses frames with and without a size in the header, with
// zstd.Decoder.DecodeAll into a new slice in turn.
func BenchmarkDecodeAll(b *testing.B) {
	inner, err := zstd.NewReader(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer inner.Close()
	for _, size := range []int{1000, 64 << 10, 1 << 20} {
		sized, streamed := encode(b, text(size))
		for i, in := range [][]byte{sized, streamed} {
			b.Run(fmt.Sprintf("%s/size=%d", []string{"sized", "streamed"}[i], size), func(b *testing.B) {
				pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})
				decoder := newDecoder(b, pool)
				turns.Take(b, max(5, 5_000_000/(size+5000)), func() {
					body, err := decoder.DecodeAll(in)
					if err != nil || len(body) != size {
						b.Fatal(len(body), err)
					}
					pool.Put(body)
				}, func() {
					body, err := inner.DecodeAll(in, nil)
					if err != nil || len(body) != size {
						b.Fatal(len(body), err)
					}
				})
			})
		}
	}
}

// A zipper is a zstd.Encoder that writes to whatever to has.
type zipper struct {
	*zstd.Encoder
	to struct{ io.Writer }
}

// BenchmarkReset compresses with an encoder of a Pool, which drops its destination before Put and is
// reset after Get, as in dewpond's ExamplePool_gzip, in turn with one of a sync.Pool that is reset after Get.
func BenchmarkReset(b *testing.B) {
	newEncoder := func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			b.Fatal(err)
		}
		return e
	}
	zippers := dewpond.MustPool(dewpond.PoolOptions[zipper]{
		Name:    b.Name(),
		New:     func() *zipper { return &zipper{Encoder: newEncoder()} },
		Reset:   func(z *zipper) { z.to.Writer = nil },
		MaxIdle: 32,
	})
	encoders := sync.Pool{New: func() any { return newEncoder() }}
	to := new(bytes.Buffer)
	compress := func(e *zstd.Encoder, in []byte) {
		if _, err := e.Write(in); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil || to.Len() == 0 {
			b.Fatal(to.Len(), err)
		}
	}
	for _, size := range []int{1000, 64 << 10} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			in := text(size)
			turns.Take(b, max(5, 5_000_000/(size+5000)), func() {
				to.Reset()
				z := zippers.Get()
				z.to.Writer = to
				z.Reset(&z.to)
				compress(z.Encoder, in)
				zippers.Put(z)
			}, func() {
				to.Reset()
				e := encoders.Get().(*zstd.Encoder)
				e.Reset(to)
				compress(e, in)
				encoders.Put(e)
			})
		})
	}
}
