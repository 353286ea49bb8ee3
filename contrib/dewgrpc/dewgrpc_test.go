package dewgrpc_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewgrpc"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/misuse"
)

func TestEcho(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	conn, stop := connect(t, dewgrpc.New(pool))
	s, err := stream(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 128, 1023, 1024, 1025, 16 << 10, 65_537, 1 << 20, 3 << 20} {
		want := bytes.Repeat([]byte{byte(size), 1, 2}, size/3+1)[:size]
		if got, err := unary(t.Context(), conn, want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("unary, %d bytes: %d bytes, %v", size, len(got), err)
		}
		if got, err := exchange(s, want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("stream, %d bytes: %d bytes, %v", size, len(got), err)
		}
	}
	stop()
	end(pool)
}

// A buffer goes back to the pool that it is from, also where the largest class is below that
// of short messages.
func TestPutFindsItsPool(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Classes: []int{512}})
	defer pool.Close()
	buffers := dewgrpc.New(pool)
	for size := 1000; size < 1050; size++ {
		b := buffers.Get(size)
		if len(*b) != size {
			t.Errorf("%d bytes: %d", size, len(*b))
		}
		buffers.Put(b)
	}
	for p := range dewpond.Pools() {
		if s := p.Stats(); strings.HasPrefix(s.Name, t.Name()) && s.Gets != s.Puts {
			t.Errorf("%v", s)
		}
	}
}

func TestCodecFails(t *testing.T) {
	codec := dewgrpc.Codec(dewgrpc.New(dewtest.NewBytePool(t, dewpond.BytePoolOptions{})))
	for _, m := range []any{wrapperspb.String(strings.Repeat("\xff", 5000)), "not a message", nil} {
		if b, err := codec.Marshal(m); err == nil {
			t.Errorf("%T is encoded in %d bytes", m, b.Len())
		}
	}
	if err := codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer("\xff")}, new(wrapperspb.StringValue)); err == nil {
		t.Error("a message that is cut off is decoded")
	}
}

// Calls that are canceled midway, and connections that are cut, misuse nothing and leave
// nothing behind, but what grpc-go itself leaves to the collector: frames that have arrived
// for a stream that nobody reads any more, and messages that it no longer sends.
func TestClientsLeaveMidway(t *testing.T) {
	var mu sync.Mutex
	var left []string
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) {
		mu.Lock()
		defer mu.Unlock()
		s := v.String()
		if ofGRPC := strings.Contains(s, "readDataFrame") || strings.Contains(s, "prepareMsg"); v.Kind != misuse.Leak || !ofGRPC {
			left = append(left, s)
		}
	}})
	buffers := dewgrpc.New(pool)
	body := make([]byte, 300_000)
	var wg sync.WaitGroup
	var stops []func()
	for i := range 8 {
		conn, stop := connect(t, buffers)
		stops = append(stops, stop)
		wg.Go(func() {
			for j := range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				s, err := stream(ctx, conn)
				if err != nil {
					t.Error(err)
					cancel()
					return
				}
				if _, err := exchange(s, body); err != nil {
					t.Error(err)
				}
				err = s.SendMsg(wrapperspb.Bytes(body)) // its answer is on the way
				if i%2 == 0 && j == 4 {
					conn.Close()
				}
				cancel()
				for ; err == nil; _, err = exchange(s, body) {
				}
			}
			if err := conn.Invoke(t.Context(), "/Echo/Unary", "not a message", nil); err == nil {
				t.Error("the codec takes what is not a message")
			}
		})
	}
	wg.Wait()
	for _, stop := range stops {
		stop()
	}
	dewtest.ReportLeaks(pool)
	pool.Close() // looks at all that is idle
	mu.Lock()
	defer mu.Unlock()
	for _, s := range left {
		t.Error(s)
	}
}

// end waits until the goroutines of connections that were closed have put back what they
// have.
func end(pool *dewpond.BytePool) {
	for pool.Stats().InUseBytes > 0 {
		time.Sleep(time.Millisecond)
	}
}
