//go:build linux

package offheap_test

import (
	"fmt"
	"log"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// Blocks outside the Go heap: the collector neither scans nor counts them, and what is idle for
// long goes back to the system.
func ExampleOptions_NewBytePool() {
	pool, err := offheap.Options{Reserve: 64 << 20}.NewBytePool(dewpond.BytePoolOptions{Name: "frames"})
	if err != nil {
		log.Fatal(err)
	}
	b := pool.Get(1500)
	fmt.Println(len(b), cap(b))
	pool.Put(b) // each of them: a block that is lost stays lost until Close
	fmt.Println(pool.Close())
	// Output:
	// 1500 1536
	// <nil>
}

// A setting of the program says where its blocks are.
func ExampleNewBytePool() {
	newBytePool := dewpond.NewBytePool
	if useMmap := true; useMmap {
		newBytePool = offheap.NewBytePool
	}
	pool, err := newBytePool(dewpond.BytePoolOptions{Name: "cache"})
	if err != nil {
		log.Fatal(err)
	}
	b := pool.Get(64 << 10)
	fmt.Println(len(b))
	pool.Put(b)
	fmt.Println(pool.Close())
	// Output:
	// 65536
	// <nil>
}
