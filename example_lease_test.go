//go:build go1.25

package dewpond_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
)

// Send one message to three subscribers without a copy for each. The one
// that is done last gives the block back, and none has to know which that is.
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

// A second Release of an owner does nothing, even while the block has another owner.
func ExampleLease_Release() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	defer pool.Close()

	mine := pool.Lease(100)
	mine.Release()

	yours := pool.Lease(100) // likely the same block
	mine.Release()
	fmt.Println(len(yours.Bytes()), "bytes,", pool.Stats().DoubleReleases, "refused")
	yours.Release()
	// Output:
	// 100 bytes, 1 refused
}

// Split what one read returns into frames without a copy: each frame is an owner of its
// part, and the block goes back when the last of them is done, whoever that is. Only the
// beginning of a frame whose rest has not come yet is copied, to the next block.
func ExampleLease_Slice() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	defer pool.Close()
	// Each frame is a byte with its length, and its bytes.
	connection := io.MultiReader(strings.NewReader("\x03one\x03two\x05thr"), strings.NewReader("ee\x04four"))

	frames := make(chan dewpond.Lease)
	var workers sync.WaitGroup
	var got sync.Map
	for range 3 {
		workers.Go(func() {
			for frame := range frames {
				got.Store(string(frame.Bytes()), true)
				frame.Release()
			}
		})
	}

	rest := pool.Lease(0)
	for err := error(nil); err == nil; {
		block := pool.Lease(4096)
		kept := copy(block.Bytes(), rest.Bytes())
		rest.Release()
		var n int
		n, err = connection.Read(block.Bytes()[kept:])
		block = block.Truncate(kept + n)

		b, at := block.Bytes(), 0
		for at < len(b) && at+int(b[at]) < len(b) {
			end := at + 1 + int(b[at])
			frames <- block.Slice(at+1, end)
			at = end
		}
		rest = block.Slice(at, len(b))
		block.Release()
	}
	rest.Release()
	close(frames)
	workers.Wait()

	for _, name := range []string{"one", "two", "three", "four"} {
		_, ok := got.Load(name)
		fmt.Println(name, ok)
	}
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// one true
	// two true
	// three true
	// four true
	// 0 bytes in use
}

// Keep of a block what a read has filled. The block goes back whole.
func ExampleLease_Truncate() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "packets"})
	defer pool.Close()

	packet := pool.Lease(1500)
	n, _ := strings.NewReader("ping").Read(packet.Bytes())
	packet = packet.Truncate(n)
	fmt.Printf("%q of %d bytes, %d in use\n", packet.Bytes(), packet.Len(), pool.Stats().InUseBytes)
	packet.Release()
	fmt.Println(pool.Stats().InUseBytes, "in use")
	// Output:
	// "ping" of 4 bytes, 1536 in use
	// 0 in use
}

// Send a block that was filled as a plain slice to several receivers.
func ExampleBytePool_LeaseOf() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "records"})
	defer pool.Close()

	b := pool.Get(200)[:0]
	b = binary.AppendUvarint(b, 300)
	b = pool.Append(b, []byte("record")...)

	record := pool.LeaseOf(b) // from here on b is not put back
	receivers := []dewpond.Lease{record.Retain(), record.Retain()}
	record.Release()
	for _, r := range receivers {
		fmt.Println(len(r.Bytes()), "bytes")
		r.Release()
	}
	fmt.Println(pool.Stats().InUseBytes, "in use")
	// Output:
	// 8 bytes
	// 8 bytes
	// 0 in use
}

// Read no more than the memory that there is: the reader waits until a block is released.
func ExampleBytePool_LeaseContext() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "lines", Budget: dewpond.MustBudget("lines", 2*64)})
	defer pool.Close()

	lines := make(chan dewpond.Lease, 10)
	var writer sync.WaitGroup
	writer.Go(func() {
		for line := range lines {
			fmt.Printf("%s\n", line.Bytes())
			line.Release()
		}
	})

	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	input := bufio.NewScanner(strings.NewReader("one\ntwo\nthree\nfour"))
	for input.Scan() {
		line, err := pool.LeaseContext(ctx, len(input.Bytes()))
		if err != nil {
			fmt.Println(err) // ctx is done, or the line is longer than the Budget
			break
		}
		copy(line.Bytes(), input.Bytes())
		lines <- line
	}
	close(lines)
	writer.Wait()
	// Output:
	// one
	// two
	// three
	// four
}
