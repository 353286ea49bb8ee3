package dewarrow_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewarrow"
	"github.com/dewpond/dewpond/internal/turns"
)

// BenchmarkBuffer allocates, fills and releases a buffer, and BenchmarkGrow one that grows
// to its size by doubling, with Arrow's GoAllocator in turn.
func BenchmarkBuffer(b *testing.B) { compare(b, func(b *memory.Buffer, size int) { b.Resize(size) }) }

func BenchmarkGrow(b *testing.B) {
	compare(b, func(b *memory.Buffer, size int) {
		for n := 64; n < size; n *= 2 {
			b.Resize(n)
		}
		b.Resize(size)
	})
}

func compare(b *testing.B, resize func(b *memory.Buffer, size int)) {
	for _, size := range []int{64, 4 << 10, 256 << 10} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			ours, err := dewarrow.New(dewpond.BytePoolOptions{Name: b.Name()})
			if err != nil {
				b.Fatal(err)
			}
			turn := func(a memory.Allocator) func() {
				return func() {
					buffer := memory.NewResizableBuffer(a)
					resize(buffer, size)
					memory.Set(buffer.Bytes(), 1)
					buffer.Release()
				}
			}
			turns.Take(b, max(20, 5_000_000/(size+1000)), turn(ours), turn(memory.NewGoAllocator()))
		})
	}
}
