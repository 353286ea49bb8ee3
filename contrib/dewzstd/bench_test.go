package dewzstd_test

import (
	"fmt"
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
