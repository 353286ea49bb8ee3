package dewproto_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewproto"
	"github.com/dewpond/dewpond/dewtest"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// file returns a message of about 100 bytes for each of n parts.
func file(n int) *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("orders.proto"), Package: proto.String("orders")}
	for range n {
		f.MessageType = append(f.MessageType, &descriptorpb.DescriptorProto{
			Name:          proto.String("Order"),
			Field:         []*descriptorpb.FieldDescriptorProto{{Name: proto.String("symbol"), Number: proto.Int32(7), JsonName: proto.String("symbol")}},
			ReservedName:  []string{"price", "amount", "a longer name than others have"},
			ReservedRange: []*descriptorpb.DescriptorProto_ReservedRange{{Start: proto.Int32(100), End: proto.Int32(200_000)}},
		})
	}
	return f
}

func TestThereAndBack(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	messages := dewproto.New(pool)
	for _, n := range []int{0, 1, 10, 1000, 3000} {
		want := file(n)
		b, err := messages.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := new(descriptorpb.FileDescriptorProto)
		if err := messages.Unmarshal(bytes.NewReader(b), got); err != nil || !proto.Equal(got, want) {
			t.Errorf("%d parts, %d bytes: %v", n, len(b), err)
		}
		pool.Put(b)
		if !proto.Equal(got, want) {
			t.Errorf("%d parts: the message changes when its block has another owner", n)
		}
	}
}

// The block's size follows the messages of its type, whatever the others are.
func TestBlockFollowsMessages(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	messages := dewproto.New(pool)
	large, err := proto.Marshal(file(200))
	if err != nil {
		t.Fatal(err)
	}
	small, err := proto.Marshal(wrapperspb.Int64(7))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := messages.Unmarshal(bytes.NewReader(large), new(descriptorpb.FileDescriptorProto)); err != nil {
			t.Fatal(err)
		}
		if err := messages.Unmarshal(bytes.NewReader(small), new(wrapperspb.Int64Value)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range pool.Stats().Classes {
		if c.Size > 2*len(large) && c.Gets > 0 {
			t.Errorf("%d blocks of %d bytes for messages of %d", c.Gets, c.Size, len(large))
		}
	}
	if s := pool.Stats(); s.HitRate() < 0.9 {
		t.Errorf("%.2f hits", s.HitRate())
	}
}

// Large messages of a type do not make a slow sender of a small one hold a large block.
func TestSlowReaders(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	messages := dewproto.New(pool)
	large, err := proto.Marshal(wrapperspb.Bytes(make([]byte, 1_000_000)))
	if err != nil {
		t.Fatal(err)
	}
	small, err := proto.Marshal(wrapperspb.Bytes(make([]byte, 10)))
	if err != nil {
		t.Fatal(err)
	}
	var m wrapperspb.BytesValue
	for i := range 1000 {
		in := small
		if i%8 == 0 {
			in = large
		}
		if err := messages.Unmarshal(bytes.NewReader(in), &m); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		sent  []byte
		bound int64
	}{{small, 64 << 10}, {large[:64<<10], 1<<20 + 64<<10}, {large[:len(large)-1], 2 << 20}} {
		for n := range 8 {
			reader, writer := net.Pipe()
			done := make(chan bool)
			go func() {
				messages.Unmarshal(reader, new(wrapperspb.BytesValue))
				close(done)
			}()
			writer.Write(tt.sent) // returns when all of it was read
			if s := pool.Stats(); s.InUseBytes > tt.bound {
				t.Errorf("reader %d of %d bytes holds %d", n, len(tt.sent), s.InUseBytes)
			}
			writer.Close()
			<-done
		}
	}
}

func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	messages := dewproto.New(pool)
	whole, err := proto.Marshal(file(500))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := messages.Marshal(wrapperspb.String("\xff")); err == nil {
		t.Errorf("an invalid string is encoded as %q", b)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		reader, writer := net.Pipe()
		wg.Go(func() {
			writer.Write(whole[:len(whole)*i/16+1])
			writer.Close()
		})
		wg.Go(func() {
			defer reader.Close()
			var r io.Reader = reader
			if i%2 == 0 {
				r = io.MultiReader(io.LimitReader(reader, 100), reader)
			}
			if messages.Unmarshal(r, new(descriptorpb.FileDescriptorProto)) == nil {
				t.Errorf("%d sixteenths of a message are decoded without an error", i)
			}
		})
	}
	wg.Wait()
}
