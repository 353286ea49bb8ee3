package dewproto_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewproto"
	"github.com/dewpond/dewpond/internal/turns"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// BenchmarkMarshal and BenchmarkUnmarshal have proto.Marshal, and io.ReadAll with
// proto.Unmarshal, in turn.
func BenchmarkMarshal(b *testing.B) {
	for name, m := range benchMessages() {
		b.Run(name, func(b *testing.B) {
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})
			messages := dewproto.New(pool)
			turns.Take(b, max(10, 2_000_000/(proto.Size(m)+2000)), func() {
				encoded, err := messages.Marshal(m)
				if err != nil {
					b.Fatal(err)
				}
				pool.Put(encoded)
			}, func() {
				if _, err := proto.Marshal(m); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	for name, m := range benchMessages() {
		b.Run(name, func(b *testing.B) {
			encoded, err := proto.Marshal(m)
			if err != nil {
				b.Fatal(err)
			}
			messages := dewproto.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()}))
			turns.Take(b, max(10, 2_000_000/(len(encoded)+2000)), func() {
				if err := messages.Unmarshal(bytes.NewReader(encoded), m); err != nil {
					b.Fatal(err)
				}
			}, func() {
				body, err := io.ReadAll(bytes.NewReader(encoded))
				if err != nil {
					b.Fatal(err)
				}
				if err := proto.Unmarshal(body, m); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// benchMessages yields messages of many small fields, and of one large field.
func benchMessages() func(yield func(string, proto.Message) bool) {
	return func(yield func(string, proto.Message) bool) {
		for _, n := range []int{1, 100} {
			if !yield(fmt.Sprint("parts=", n), file(n)) {
				return
			}
		}
		yield("bytes=65536", wrapperspb.Bytes(make([]byte, 64<<10)))
	}
}
