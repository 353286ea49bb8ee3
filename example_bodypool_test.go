package dewpond_test

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond"
)

// A decoder that appends to what it is given, and may so leave the block. Who has both
// puts back both.
func ExampleBytePool_Adopt() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "replies"})
	defer pool.Close()
	quote := func(dst []byte, line string) []byte { return fmt.Appendf(dst, "%q", line) }

	block := pool.Get(64)
	reply := quote(block[:0], strings.Repeat("dew ", 50))
	fmt.Println(len(reply), "bytes")
	if cap(reply) != cap(block) {
		pool.Adopt(reply)
	}
	pool.Put(block)

	s := pool.Stats()
	fmt.Println(s.InUseBytes, "bytes in use,", s.Adopted, "block adopted")
	// Output:
	// 202 bytes
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
