package dewzstd_test

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewzstd"
	"github.com/klauspost/compress/zstd"
)

func Example() {
	const most = 1 << 20
	inner, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(most))
	if err != nil {
		panic(err)
	}
	defer inner.Close()
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	decoder := dewzstd.New(pool, inner, most)

	encoder, _ := zstd.NewWriter(nil)
	frame := encoder.EncodeAll([]byte("dew"), nil)

	body, err := decoder.DecodeAll(frame)
	if err != nil {
		panic(err)
	}
	defer pool.Put(body)
	fmt.Printf("%s\n", body)
	// Output:
	// dew
}
