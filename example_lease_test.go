package dewpond_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
)

// Send one message to three subscribers without a copy for each. Whoever is done
// last gives the block back, and nobody has to know who that is.
func ExampleLease_Retain() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "messages"})
	defer pool.Close()

	message := pool.Lease(5)
	copy(message.Bytes(), "hello")

	var subscribers sync.WaitGroup
	var delivered atomic.Int64
	network := make(chan struct{})
	for range 3 {
		mine := message.Retain() // here: in the goroutine it might come too late
		subscribers.Go(func() {
			defer mine.Release()
			<-network
			delivered.Add(int64(len(mine.Bytes())))
		})
	}
	message.Release() // the sender is done
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")

	close(network)
	subscribers.Wait()
	fmt.Println(delivered.Load(), "bytes delivered,", pool.Stats().InUseBytes, "in use")
	// Output:
	// 64 bytes in use
	// 15 bytes delivered, 0 in use
}

// A second Release of an owner does nothing, even while the block is somebody else's.
func ExampleLease_Release() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	defer pool.Close()

	mine := pool.Lease(100)
	fmt.Println(mine.Release())

	yours := pool.Lease(100) // likely the same block
	fmt.Println(errors.Is(mine.Release(), dewpond.ErrReleased))
	fmt.Println(len(yours.Bytes()), yours.Release())
	// Output:
	// <nil>
	// true
	// 100 <nil>
}
