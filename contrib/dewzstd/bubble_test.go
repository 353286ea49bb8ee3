package dewzstd_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
)

// A zstd.Decoder has a channel. In a sync.Pool it ends the tests of a program that uses it in
// bubbles and outside: "fatal error: receive on synctest channel from outside bubble". In these
// pools it does not.
func TestPooledDecoderInBubbles(t *testing.T) {
	writer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("hello "), 100)
	packed := writer.EncodeAll(want, nil)
	newDecoder := func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2))
		if err != nil {
			panic(err)
		}
		return d
	}
	decode := func(t *testing.T, d *zstd.Decoder) {
		if got, err := d.DecodeAll(packed, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q, %v", got, err)
		}
	}
	asWas := dewsync.Pool{New: func() any { return newDecoder() }}
	closed := 0
	own := dewpond.MustPool(dewpond.PoolOptions[zstd.Decoder]{
		New: newDecoder, Reset: func(d *zstd.Decoder) { _ = d.Reset(nil) }, Drop: func(d *zstd.Decoder) { closed++; d.Close() },
	})
	t.Cleanup(func() { own.Close() })
	use := func(t *testing.T) {
		d := asWas.Get().(*zstd.Decoder)
		decode(t, d)
		asWas.Put(d)
		d = own.Get()
		decode(t, d)
		own.Put(d)
	}
	const rounds = 3
	for range rounds {
		synctest.Test(t, func(t *testing.T) { use(t); use(t) })
		use(t)
	}
	if s := own.Stats(); s.Bubbles == "apart" && closed != 2*rounds {
		t.Errorf("%d decoders are closed in bubbles, want %d", closed, 2*rounds)
	}
}
