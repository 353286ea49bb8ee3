package dewzstd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewzstd"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/klauspost/compress/zstd"
)

const most = 8 << 20 // not less than the window of streamed frames

func newDecoder(tb testing.TB, pool *dewpond.BytePool) *dewzstd.Decoder {
	inner, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(most))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(inner.Close)
	return dewzstd.New(pool, inner, most)
}

// text returns n bytes that compress to about a third.
func text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "order %d of %d at %d; ", i, rand.IntN(1000), rand.IntN(100_000))
	}
	return b.Bytes()[:n]
}

// encode returns a frame that has its size in the header, and one that has not.
func encode(tb testing.TB, body []byte) (sized, streamed []byte) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer encoder.Close()
	var b bytes.Buffer
	encoder.Reset(&b)
	encoder.Write(body)
	encoder.Flush()
	encoder.Close()
	return encoder.EncodeAll(body, nil), b.Bytes()
}

func TestDecodeAll(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	decoder := newDecoder(t, pool)
	for _, n := range []int{1, 100, 4096, 100_000, 500_000} {
		want := text(n)
		sized, streamed := encode(t, want)
		twice := append(bytes.Clone(sized), sized...)
		for _, in := range [][]byte{sized, streamed, twice} {
			for range 2 {
				got, err := decoder.DecodeAll(in)
				if err != nil || !bytes.Equal(got[:n], want) || !bytes.Equal(got[n:], want[:len(got)-n]) {
					t.Errorf("%d bytes in a frame of %d: %d bytes, %v", n, len(in), len(got), err)
				}
				pool.Put(got)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	decoder := newDecoder(t, pool)
	sized, streamed := encode(t, make([]byte, most+1))
	for _, in := range [][]byte{sized, streamed} {
		if _, err := decoder.DecodeAll(in); !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			t.Errorf("too large: %v", err)
		}
	}
	half, _ := encode(t, make([]byte, most/2+1))
	if _, err := decoder.DecodeAll(append(half, half...)); !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		t.Errorf("too large together: %v", err)
	}
	sized, streamed = encode(t, text(100_000))
	for _, in := range [][]byte{sized[:len(sized)-10], streamed[:len(streamed)/2], []byte("no frame"), sized[:5]} {
		if out, err := decoder.DecodeAll(in); err == nil {
			t.Errorf("no error, but %d bytes", len(out))
		}
	}
}

// Frames that stop midway, because the client has gone, leave nothing behind.
func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	decoder := newDecoder(t, pool)
	sized, streamed := encode(t, text(200_000))
	var wg sync.WaitGroup
	for i := range 16 {
		reader, writer := net.Pipe()
		wg.Go(func() {
			defer writer.Close()
			writer.Write([][]byte{sized, streamed}[i%2][:(i+1)*len(sized)/20])
		})
		wg.Go(func() {
			in, err := io.ReadAll(reader)
			if err != nil {
				t.Error(err)
			}
			if out, err := decoder.DecodeAll(in); err == nil {
				t.Errorf("half a frame has %d bytes", len(out))
			}
		})
	}
	wg.Wait()
}
