package dewgrpc_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/mem"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewgrpc"
	"github.com/dewpond/dewpond/internal/turns"
)

func newBuffers(name string) *dewgrpc.BufferPool {
	return dewgrpc.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: name, Classes: dewgrpc.Classes()}))
}

// BenchmarkBufferPool is a Get and Put, with grpc-go's own pool in turn. Both clear what
// they hand out.
func BenchmarkBufferPool(b *testing.B) {
	for _, size := range []int{128, 1500, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			turn := func(p mem.BufferPool) func() {
				return func() {
					buf := p.Get(size)
					(*buf)[0], (*buf)[size-1] = 1, 1
					p.Put(buf)
				}
			}
			turns.Take(b, max(20, 20_000_000/(size+1000)/20), turn(newBuffers(b.Name())), turn(mem.DefaultBufferPool()))
		})
	}
}

// BenchmarkEcho is a message there and back, with grpc-go's own pool in turn.
func BenchmarkEcho(b *testing.B) {
	for _, size := range []int{128, 1500, 16 << 10, 64 << 10, 1 << 20} {
		body := make([]byte, size)
		n := max(10, 200_000/(size+1000))
		b.Run(fmt.Sprint("unary/size=", size), func(b *testing.B) {
			turn := func(p mem.BufferPool) func() {
				conn, end := connect(b, p)
				b.Cleanup(end)
				return func() {
					if answer, err := unary(context.Background(), conn, body); err != nil || len(answer) != size {
						b.Fatal(len(answer), err)
					}
				}
			}
			turns.Take(b, n, turn(newBuffers(b.Name())), turn(nil))
		})
		b.Run(fmt.Sprint("stream/size=", size), func(b *testing.B) {
			turn := func(p mem.BufferPool) func() {
				conn, end := connect(b, p)
				b.Cleanup(end)
				s, err := stream(b.Context(), conn)
				if err != nil {
					b.Fatal(err)
				}
				return func() {
					if answer, err := exchange(s, body); err != nil || len(answer) != size {
						b.Fatal(len(answer), err)
					}
				}
			}
			turns.Take(b, n, turn(newBuffers(b.Name())), turn(nil))
		})
	}
}
