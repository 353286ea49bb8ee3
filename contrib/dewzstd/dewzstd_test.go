package dewzstd_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewzstd"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/klauspost/compress/zstd"
)

const most = 8 << 20

func newDecoder(tb testing.TB, pool *dewpond.BytePool) *dewzstd.Decoder {
	decoder, err := dewzstd.New(pool, most)
	if err != nil {
		tb.Fatal(err)
	}
	return decoder
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
		skipped := []byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'd', 'e', 'w'}
		for _, in := range [][]byte{
			sized, streamed, slices.Concat(sized, sized), slices.Concat(sized, skipped, streamed), slices.Concat(skipped, streamed, sized, skipped),
		} {
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

// What frames say that they have is refused before memory is taken for it, whichever frame
// says it, and what they do not say is bounded too.
func TestMost(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	decoder, err := dewzstd.New(pool, 1024)
	if err != nil {
		t.Fatal(err)
	}
	one, streamedOne := encode(t, []byte("x"))
	many, streamed := encode(t, make([]byte, 100<<20))
	empty := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x80 | 0x20}, 1<<29) // a single segment of 512 MiB
	empty = append(empty, 1, 0, 0)                                                                // has one block, which is empty
	wraps := binary.LittleEndian.AppendUint64([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xc0 | 0x20}, math.MaxUint64)
	wraps = append(wraps, 1, 0, 0)
	skipped := []byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 1}
	for name, in := range map[string][]byte{
		"one":                       many,
		"the second":                slices.Concat(one, many),
		"the second after another":  slices.Concat(streamedOne, many),
		"after one that is skipped": slices.Concat(skipped, many),
		"the second is empty":       slices.Concat(one, empty),
		"more than a word":          slices.Concat(one, wraps),
		"it does not say so":        streamed,
		"nor does the second":       slices.Concat(one, streamed),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decoder.DecodeAll(in)
		runtime.ReadMemStats(&after)
		bound := uint64(1 << 20)
		if name == "it does not say so" || name == "nor does the second" {
			bound = 64 << 20 // 8 MiB, and what a slice that grows there has been before
		}
		if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, zstd.ErrDecoderSizeExceeded) || took > bound {
			t.Errorf("%s: %v; it took %d bytes", name, err, took)
		}
	}
	for _, in := range [][]byte{one, streamedOne, slices.Concat(one, skipped, one), slices.Concat(one, streamedOne)} {
		out, err := decoder.DecodeAll(in)
		if err != nil || strings.Trim(string(out), "x") != "" {
			t.Errorf("%q, %v", out, err)
		}
		pool.Put(out)
	}
	for _, bad := range []int{0, -1} {
		if _, err := dewzstd.New(pool, bad); err == nil {
			t.Errorf("most %d is accepted", bad)
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
