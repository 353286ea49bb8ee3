package dewzstd

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/klauspost/compress/zstd"
)

// A Decoder decompresses whole frames into blocks. Make one with [New]. Its methods may be
// called by as many goroutines at once as those of its zstd.Decoder.
type Decoder struct {
	pool    *dewpond.BytePool
	decoder *zstd.Decoder
	most    int
	unknown *dewpond.BodyPool // for frames whose header does not have the size
}

// New returns a Decoder that takes blocks of pool. A frame that decompresses to more than
// most bytes is refused, also if it only says so: give the decoder the same limit, by
// [zstd.WithDecoderMaxMemory], for frames that do not say it. That also limits the window,
// which has 8 MiB in frames that klauspost's encoder has streamed. New panics if pool is off
// the heap, as [dewpond.BytePool.Bodies] does.
func New(pool *dewpond.BytePool, decoder *zstd.Decoder, most int) *Decoder {
	return &Decoder{pool: pool, decoder: decoder, most: most, unknown: pool.Bodies()}
}

// DecodeAll decompresses all frames of in. The caller owns the result, and gives it back to
// the pool that the Decoder was made with:
//
//	body, err := decoder.DecodeAll(in)
//	if err != nil {
//		return err
//	}
//	defer pool.Put(body)
func (d *Decoder) DecodeAll(in []byte) ([]byte, error) {
	var header zstd.Header
	if err := header.Decode(in); err != nil || !header.HasFCS || header.Skippable {
		return d.decodeUnknown(in)
	}
	if header.FrameContentSize > uint64(d.most) {
		return nil, fmt.Errorf("dewzstd: %w: the frame has %d bytes, more than %d", zstd.ErrDecoderSizeExceeded, header.FrameContentSize, d.most)
	}
	b := d.pool.Get(int(header.FrameContentSize))[:0]
	out, err := d.decoder.DecodeAll(in, b)
	if cap(out) == cap(b) && err == nil {
		return out, nil
	}
	d.pool.Put(b)
	return d.own(out, err) // there are more frames, which have outgrown the block
}

// decodeUnknown decompresses what does not say its size, into a block of the size that such
// frames have had.
func (d *Decoder) decodeUnknown(in []byte) ([]byte, error) {
	b := d.unknown.Get()
	out, err := d.decoder.DecodeAll(in, b)
	if cap(out) == 0 { // DecodeAll returns nil with some errors
		out = b
	}
	defer d.unknown.Put(out)
	return d.own(out, err)
}

// own copies what the decoder has moved to memory of its own to a block.
func (d *Decoder) own(out []byte, err error) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case len(out) > d.most:
		return nil, fmt.Errorf("dewzstd: %w: the frames have %d bytes, more than %d", zstd.ErrDecoderSizeExceeded, len(out), d.most)
	}
	b := d.pool.Get(len(out))
	copy(b, out)
	return b, nil
}
