package dewzstd_test

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewzstd"
	"github.com/klauspost/compress/zstd"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	decoder, err := dewzstd.New(pool, 1<<20)
	if err != nil {
		panic(err)
	}

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
