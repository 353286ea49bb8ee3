package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dewpond/dewpond"
)

// A whole program: read frames into pooled blocks, then ask the pool what it did.
func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	defer pool.Close()

	for range 1000 {
		b := pool.Get(1500)
		n, _ := io.ReadFull(strings.NewReader("one frame"), b)
		_ = b[:n] // decode it, answer it
		pool.Put(b)
	}
	s := pool.Stats()
	fmt.Printf("%d Gets, %d bytes in use\n", s.Gets, s.InUseBytes)
	// Output: 1000 Gets, 0 bytes in use
}

func ExampleBytePool_TryGet() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "uploads", AllocRate: 1})
	defer pool.Close()

	first, err := pool.TryGet(64 << 10)
	fmt.Println(len(first), err)
	_, err = pool.TryGet(64 << 10)
	fmt.Println(errors.Is(err, dewpond.ErrExhausted)) // answer 503
	pool.Put(first)
	second, err := pool.TryGet(64 << 10)
	fmt.Println(err)
	pool.Put(second)
	// Output:
	// 65536 <nil>
	// true
	// <nil>
}

func ExampleBytePool_GetContext() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "jobs", AllocRate: 1})
	defer pool.Close()
	b, _ := pool.TryGet(4096)

	go pool.Put(b)
	b, err := pool.GetContext(context.Background(), 4096) // waits for the Put, however long
	fmt.Println(len(b), err)
	pool.Put(b)
	// Output: 4096 <nil>
}

func ExampleBytePool_Append() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "replies"})
	defer pool.Close()

	var b []byte
	for i := range 5 {
		b = pool.Append(b, []byte(fmt.Sprintf("line %d\n", i))...)
	}
	fmt.Print(string(b))
	pool.Put(b)
	// Output:
	// line 0
	// line 1
	// line 2
	// line 3
	// line 4
}

func ExampleBytePool_Trim() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "nightly"})
	defer pool.Close()

	pool.Prewarm(1<<20, 10)
	fmt.Println(pool.Trim()>>20, "MiB released,", pool.Stats().IdleBytes, "bytes idle")
	// Output: 10 MiB released, 0 bytes idle
}

func ExamplePools() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "gateway"})
	defer pool.Close()
	pool.Put(pool.Get(100))

	for p := range dewpond.Pools() {
		if s := p.Stats(); s.Name == "gateway" {
			fmt.Println(s.Name, s.IdleBytes)
		}
	}
	// Output: gateway 128
}
