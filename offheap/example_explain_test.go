//go:build linux && !race && !msan && !asan

package offheap_test

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// With CheckAll a read after Put faults. ExplainFaults says whose block it was, and by whom it was put
// back.
func ExampleExplainFaults() {
	pool, err := offheap.Options{Reserve: 64 << 20}.NewBytePool(dewpond.BytePoolOptions{
		Name: "frames", Check: dewpond.CheckAll, OnViolation: func(misuse.Violation) {}, // it is printed below
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	read := func(b []byte) (first byte) {
		defer offheap.ExplainFaults()()
		return b[0]
	}
	defer func() {
		v := recover().(misuse.Violation)
		fmt.Println(v.Kind, "of pool", v.Pool, "at offset", v.Offset)
	}()
	b := pool.Get(100)
	pool.Put(b)
	read(b)
	// Output:
	// use after Put of pool frames at offset 0
}
