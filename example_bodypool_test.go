package dewpond_test

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond"
)

// What somebody else has made becomes a block of the pool.
func ExampleBytePool_Adopt() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "lines"})
	defer pool.Close()

	line := []byte(strings.Repeat("dew ", 50)) // made by a library, and the caller's
	fmt.Println(len(line), "bytes")
	pool.Adopt(line)

	s := pool.Stats()
	fmt.Println(s.InUseBytes, "bytes in use,", s.Adopted, "block adopted")
	// Output:
	// 200 bytes
	// 0 bytes in use, 1 block adopted
}

// Bodies whose size nobody knows beforehand. The BodyPool learns it, and adopts the blocks that
// append has made.
func ExampleBytePool_Bodies() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "messages"})
	defer pool.Close()
	bodies := pool.Bodies()

	const line = "a message that is much longer than it looks\n"
	for range 1000 {
		body := bodies.Get()
		for range 200 { // as decompressors do
			body = append(body, line...)
		}
		bodies.Put(body)
	}
	s := pool.Stats()
	fmt.Println(s.Adopted > 0, s.InUseBytes, "bytes in use")
	// Output: true 0 bytes in use
}
