package dewpond

import (
	"bytes"
	"io"
	"math"
)

// growBy is Grow. Only a TryBuffer is returned an error, here and below.
func (b *Buffer) growBy(n int) error {
	switch {
	case n < 0:
		panic("bytes.Buffer.Grow: negative count")
	case b.buf != nil:
		return b.reserve(n)
	case n == 0:
		return nil
	}
	block, err := b.take(n, n)
	if err != nil {
		return err
	}
	b.buf = block[:0]
	b.setLimit()
	return nil
}

// setLimit sets limit for another block, unless the last call read.
func (b *Buffer) setLimit() {
	if b.limit >= 0 {
		b.limit = cap(b.buf)
	}
}

// reserve makes room for n more bytes.
func (b *Buffer) reserve(n int) error {
	old, err := b.grow(n)
	b.put(old)
	return err
}

// grow makes room for n more bytes. If it takes a larger block it also returns the old
// one. The caller puts that back after it has written the n bytes, because they may come
// from the old block.
func (b *Buffer) grow(n int) (old []byte, err error) {
	unread := b.Len()
	if unread == 0 && b.off != 0 {
		b.Reset()
	}
	switch {
	case n <= cap(b.buf)-len(b.buf):
		return nil, nil
	case n <= b.off-unread:
		// More has been read than is unread, so the earlier reads pay for this copy.
		// It overwrites only buf[:off-n]: neither the unread bytes nor what Next has
		// just returned, either of which may be what the caller is about to write.
		copy(b.buf, b.buf[b.off:])
	default:
		block, err := b.larger(unread, n)
		if err != nil {
			return nil, err
		}
		copy(block, b.buf[b.off:])
		old, b.buf = b.buf, block
		b.setLimit()
	}
	b.off = 0
	b.buf = b.buf[:unread]
	return old, nil
}

// larger takes a block for the unread bytes and n more, with room for later writes. If
// the Buffer has a block of the largest class that is mostly unread, larger takes a
// slice beyond the classes: another block of that size would soon be full, and would
// have to be copied again.
func (b *Buffer) larger(unread, n int) ([]byte, error) {
	has := cap(b.buf)
	if has > math.MaxInt-has-n {
		panic(bytes.ErrTooLarge)
	}
	p := b.home()
	first := 0
	if b.buf == nil {
		first = p.first.Size()
	}
	least := unread + n
	size := max(least, 2*has, first)
	if largest := p.classes.Largest(); least > largest {
		least = max(least, has+has/8) // so that each of many small writes does not copy everything
	} else if has < largest || least <= has/2 {
		size = min(size, largest)
	}
	block, err := b.take(size, least)
	if err != nil {
		return nil, err
	}
	if b.guessed {
		p.first.Outgrown(has)
	}
	b.guessed = len(block) == first
	return block, nil
}

// take is BytePool.Get of size bytes, but panics as bytes.Buffer does if the allocation
// is impossible. For a TryBuffer it is TryGet, of least bytes if there is no block of size.
func (b *Buffer) take(size, least int) (block []byte, err error) {
	p := b.home()
	if size > p.classes.Largest() {
		defer func() {
			if recover() != nil {
				panic(bytes.ErrTooLarge)
			}
		}()
	}
	if !b.try {
		return p.Get(size), nil
	}
	if block, err = p.tryGet("TryBuffer", size); err != nil && least < size {
		block, err = p.tryGet("TryBuffer", least)
	}
	p.countRefusal(err)
	return block, err
}

// A TryBuffer is a [Buffer] that may be refused the block that a write needs: where
// [BytePool.TryGet] returns an error, the write returns it too. A write that is refused
// writes nothing, and what the TryBuffer holds stays as it was: it can be read, written out
// and released, and written to once there is room again. Make one with
// [BytePool.TryBuffer] and end it with Release.
//
// A TryBuffer that grows asks for a block twice as large, as a Buffer does, and if it is
// refused that, for one that just fits; above the largest class, for an eighth more than it
// holds. While it grows it holds the old block too.
//
// All that is said of a Buffer holds for a TryBuffer. It has the same methods; the five that
// write, and Grow, may return an error. The zero TryBuffer is on the pool [Default], which
// refuses nothing.
type TryBuffer struct{ buffer }

type buffer = Buffer // so that no caller gets at the methods of Buffer that a TryBuffer has too

// TryBuffer returns an empty [TryBuffer] on blocks of this pool. What [BytePool.Buffer] says
// of allocations holds for it too.
func (p *BytePool) TryBuffer() *TryBuffer {
	return &TryBuffer{buffer{pool: p.actual(), try: true}}
}

// Write appends p. It returns len(p) and nil, or 0 and the error of [BytePool.TryGet]. It
// panics with [bytes.ErrTooLarge] if no memory can hold that much.
func (b *TryBuffer) Write(p []byte) (n int, err error) { return b.buffer.Write(p) }

// String returns the unread bytes as a string, or "<nil>" for a nil TryBuffer.
func (b *TryBuffer) String() string {
	if b == nil {
		return "<nil>"
	}
	return b.buffer.String()
}

// WriteString appends s, as Write does.
func (b *TryBuffer) WriteString(s string) (n int, err error) {
	if err := appendString(&b.buffer, s, (*Buffer).writeStringSlow); err != nil {
		return 0, err
	}
	return len(s), nil
}

// WriteByte appends c, as Write does.
func (b *TryBuffer) WriteByte(c byte) error { return b.buffer.WriteByte(c) }

// WriteRune appends r in UTF-8, or U+FFFD if r is not a valid rune, as Write does.
func (b *TryBuffer) WriteRune(r rune) (n int, err error) { return b.buffer.WriteRune(r) }

// Grow makes room for n more bytes, which can then be written without taking another block,
// or returns the error of [BytePool.TryGet]. It panics if n is negative, and as Write does.
func (b *TryBuffer) Grow(n int) error { return b.growBy(n) }

// ReadFrom is [Buffer.ReadFrom], but ends when it is refused a block and its own is full.
// Then it returns the number of bytes that it has read, which it keeps, and the error of
// [BytePool.TryGet]. The last Reads before that get slices of fewer than [bytes.MinRead]
// bytes.
func (b *TryBuffer) ReadFrom(r io.Reader) (n int64, err error) { return b.buffer.ReadFrom(r) }

// Lease hands the unread bytes over as a [Lease], without a copy: the Lease owns the
// Buffer's block, and the Buffer is empty, as after [Buffer.Release], and can be used
// again. The cap of the Lease's bytes is their length. The Lease of an empty Buffer has
// length 0, and must be released too. Lease panics if the Buffer, with what was read of
// it, has 4 GiB or more.
func (b *Buffer) Lease() Lease {
	l := b.home().LeaseOf(b.buf)
	all, read := b.handOver()
	if read == 0 {
		return l.Truncate(len(all))
	}
	defer l.Release() // the part remains, and the block goes back from its start
	return l.Slice(read, len(all))
}
