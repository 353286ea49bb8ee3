package dewzstd

import (
	"fmt"
	"slices"

	"github.com/dewpond/dewpond"
	"github.com/klauspost/compress/zstd"
)

// A Decoder decompresses whole frames into blocks. Make one with [New]. Its methods may be
// called by any number of goroutines at once.
type Decoder struct {
	pool    *dewpond.BytePool
	decoder *zstd.Decoder
	most    int
	unknown *dewpond.BodyPool // for frames whose header does not have the size
}

// window is what a decoder should have for a frame, by RFC 8878. The decoder's limit is not
// below it, because klauspost's also limits the window, which has this size in frames that
// its encoder has streamed, however short they are.
const window = 8 << 20

// New returns a Decoder that takes blocks of pool, and refuses frames that decompress to more
// than most bytes together. Where their headers say so, nothing is decompressed; of frames
// that do not say it, most bytes are or 8 MiB, the larger. The options are for a decoder of
// its own, which needs no Close. New panics if pool is off the heap, as
// [dewpond.BytePool.Bodies] does.
func New(pool *dewpond.BytePool, most int, options ...zstd.DOption) (*Decoder, error) {
	if most <= 0 {
		return nil, fmt.Errorf("dewzstd: most is %d bytes: it bounds what is decompressed, and must be above 0", most)
	}
	options = append(slices.Clip(options), zstd.WithDecoderMaxMemory(uint64(max(most, window))))
	decoder, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("dewzstd: %w", err)
	}
	return &Decoder{pool: pool, decoder: decoder, most: most, unknown: pool.Bodies()}, nil
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
	size, known := declared(in, uint64(d.most))
	switch {
	case size > uint64(d.most):
		return nil, d.exceeded(size)
	case !known:
		return d.decodeUnknown(in)
	}
	b := d.pool.Get(int(size))[:0]
	out, err := d.decoder.DecodeAll(in, b)
	if cap(out) == cap(b) && err == nil {
		return out, nil
	}
	d.pool.Put(b)
	return d.own(out, err) // with an error own does not look at out, and otherwise out has moved
}

func (d *Decoder) exceeded(size uint64) error {
	return fmt.Errorf("dewzstd: %w: the frames have %d bytes, more than %d", zstd.ErrDecoderSizeExceeded, size, d.most)
}

// declared adds up what the headers of all frames say they decompress to, as far as they can
// be read, or until it is above most. known tells whether all of them say it.
func declared(in []byte, most uint64) (size uint64, known bool) {
	known = true
	for len(in) > 0 && size <= most {
		var h zstd.Header
		rest, err := h.DecodeAndStrip(in)
		if err != nil {
			return size, false
		}
		in = rest
		if h.Skippable {
			in = in[min(int(h.SkippableSize), len(in)):]
			continue
		}
		if h.FrameContentSize > most { // also where the sum would wrap
			return h.FrameContentSize, known
		}
		size += h.FrameContentSize // 0 if it is not known
		known = known && h.HasFCS
		if in = behindBlocks(in); h.HasCheckSum {
			in = in[min(4, len(in)):]
		}
	}
	return size, known
}

// behindBlocks returns what follows the blocks of a frame. See "Blocks" in RFC 8878.
func behindBlocks(in []byte) []byte {
	for len(in) >= 3 {
		header := uint32(in[0]) | uint32(in[1])<<8 | uint32(in[2])<<16
		last, kind, size := header&1 == 1, header>>1&3, int(header>>3)
		if kind == 1 { // one byte, repeated size times
			size = 1
		}
		in = in[min(3+size, len(in)):]
		if last {
			return in
		}
	}
	return nil
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
		return nil, d.exceeded(uint64(len(out)))
	}
	b := d.pool.Get(len(out))
	copy(b, out)
	return b, nil
}
