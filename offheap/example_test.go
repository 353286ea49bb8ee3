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
func ExampleNewBytePool() {
	pool, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "frames"}, offheap.Options{Reserve: 64 << 20})
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
