package dewsing_test

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsing"
)

// An allocator stands for the interface buf.Allocator of sing.
type allocator interface {
	Get(size int) []byte
	Put(buf []byte) error
}

var _ allocator = dewsing.Allocator{}

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "sing", MaxIdleBytes: 4 << 20})
	a := dewsing.New(pool) // buf.DefaultAllocator = dewsing.New(pool)

	b := a.Get(1500)
	fmt.Println(len(b), a.Get(1<<20) == nil)
	a.Put(b)
	fmt.Println("idle bytes:", pool.Stats().IdleBytes)
	// Output:
	// 1500 true
	// idle bytes: 1536
}
