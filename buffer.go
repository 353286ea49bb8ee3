package dewpond

import (
	"bytes"
	"errors"
	"io"
	"math"
	"unicode/utf8"
)

// A Buffer is a [bytes.Buffer] on blocks of a [BytePool], with the same methods, errors
// and panics. Make one with [BytePool.Buffer] and end it with [Buffer.Release]:
//
//	b := pool.Buffer()
//	defer b.Release()
//
// The zero Buffer is empty and ready to use, on the pool [Default]. A Buffer must not be
// copied after its first use, and must not be used by several goroutines at once.
//
// A Buffer that grows takes a larger block, at least twice as large while the pool
// has such a class, and puts the old block back. So the slices that Bytes,
// AvailableBuffer, Next and Peek return are valid only until the next call that
// writes to the Buffer, grows it or releases it: after that their block may have another
// owner. This is stricter than bytes.Buffer, whose old slices only go stale. The caller
// must not Put these slices: the Buffer puts its blocks back. A slice that the last call
// returned may be the argument of the next call: b.Write(b.Bytes()) doubles what b holds.
type Buffer struct {
	_    noCopy
	pool *BytePool // nil: Default()
	buf  []byte    // from the start of its block; nil: no block
	off  int       // buf[off:] is unread
	last lastRead
}

// A noCopy in a struct makes go vet report copies of it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// A lastRead says what the Buffer's last call read, for UnreadByte and UnreadRune: the
// size of a rune, or one of these constants.
type lastRead int8

const (
	readNothing lastRead = 0
	readBytes   lastRead = -1
)

// firstBlock is the smallest block that a first write takes. Growing to it from the
// smallest class adds 6 % to the time it takes to build a body of 1.2 KB.
const firstBlock = 512

var (
	errNegativeRead = errors.New("bytes.Buffer: reader returned negative count from Read")
	errUnreadByte   = errors.New("bytes.Buffer: UnreadByte: previous operation was not a successful read")
	errUnreadRune   = errors.New("bytes.Buffer: UnreadRune: previous operation was not a successful ReadRune")
)

// Buffer returns an empty [Buffer] on blocks of this pool. The Buffer takes no block
// before the first write. A Buffer that does not escape its caller costs no allocation,
// one that escapes costs one: the Buffer itself is never pooled, so a stale pointer to
// it never becomes a pointer to another owner's Buffer.
func (p *BytePool) Buffer() *Buffer {
	return &Buffer{pool: p.actual()} // a nil pool panics here; the Buffer would take nil for Default()
}

// Release gives the Buffer's block back to the pool and leaves the Buffer empty. The
// Buffer can be used again. Release does nothing if the Buffer has no block, for
// instance because it was released before, so a deferred Release is always right.
func (b *Buffer) Release() {
	block := b.buf
	b.buf, b.off, b.last = nil, 0, readNothing
	b.put(block)
}

// home returns the pool that the Buffer's blocks come from.
func (b *Buffer) home() *BytePool {
	if b.pool == nil {
		b.pool = Default()
	}
	return b.pool
}

// put gives back a block that this Buffer no longer uses, if there is one.
func (b *Buffer) put(block []byte) {
	if block != nil {
		b.home().Put(block)
	}
}

// Write appends p. It returns len(p) and nil. It panics with [bytes.ErrTooLarge] if the
// Buffer would become too large.
func (b *Buffer) Write(p []byte) (n int, err error) {
	b.last = readNothing
	at := len(b.buf)
	if len(p) > cap(b.buf)-at {
		return b.writeSlow(p)
	}
	b.buf = b.buf[:at+len(p)]
	return copy(b.buf[at:], p), nil
}

// writeSlow is Write when the block has no room.
func (b *Buffer) writeSlow(p []byte) (n int, err error) {
	at, old := b.grow(len(p))
	n = copy(b.buf[at:], p)
	b.put(old)
	return n, nil
}

// WriteString appends s, as Write does.
func (b *Buffer) WriteString(s string) (n int, err error) {
	b.last = readNothing
	at := len(b.buf)
	if len(s) > cap(b.buf)-at {
		return b.writeStringSlow(s)
	}
	b.buf = b.buf[:at+len(s)]
	return copy(b.buf[at:], s), nil
}

func (b *Buffer) writeStringSlow(s string) (n int, err error) {
	at, old := b.grow(len(s))
	n = copy(b.buf[at:], s)
	b.put(old)
	return n, nil
}

// WriteByte appends c and returns nil. It panics as Write does.
func (b *Buffer) WriteByte(c byte) (err error) {
	b.last = readNothing
	if len(b.buf) == cap(b.buf) {
		b.reserve(1)
	}
	b.buf = append(b.buf, c)
	return // "return nil" would be too long to be inlined
}

// WriteRune appends r in UTF-8, or U+FFFD if r is not a valid rune. It returns the number
// of bytes and nil. It panics as Write does.
func (b *Buffer) WriteRune(r rune) (n int, err error) {
	if uint32(r) < utf8.RuneSelf { // one byte needs no room for four
		return 1, b.WriteByte(byte(r))
	}
	b.last = readNothing
	if cap(b.buf)-len(b.buf) < utf8.UTFMax {
		b.reserve(utf8.UTFMax)
	}
	before := len(b.buf)
	b.buf = utf8.AppendRune(b.buf, r)
	return len(b.buf) - before, nil
}

// Grow makes room for n more bytes, which can then be written without taking another
// block. If the final size is roughly known, Grow saves growing step by step. It panics
// if n is negative, and as Write does.
func (b *Buffer) Grow(n int) {
	if n < 0 {
		panic("bytes.Buffer.Grow: negative count")
	}
	switch {
	case b.buf != nil:
		b.reserve(n)
	case n > 0:
		b.buf = b.take(n)[:0]
	}
}

// ReadFrom appends what r returns until [io.EOF] or another error. It returns the number
// of bytes read, and the error unless it is io.EOF. Each Read gets a slice of
// [bytes.MinRead] bytes or more of the Buffer's block: r must neither keep the slice nor
// use the Buffer. ReadFrom panics if r returns a negative count, and as Write does.
func (b *Buffer) ReadFrom(r io.Reader) (n int64, err error) {
	b.last = readNothing
	for {
		b.reserve(bytes.MinRead)
		at := len(b.buf)
		m, err := r.Read(b.buf[at:cap(b.buf)])
		if m < 0 {
			panic(errNegativeRead)
		}
		b.buf = b.buf[:at+m]
		n += int64(m)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// reserve makes room for n more bytes.
func (b *Buffer) reserve(n int) {
	at, old := b.grow(n)
	b.buf = b.buf[:at]
	b.put(old)
}

// grow lengthens the contents by n bytes and returns where those start. If it takes
// a larger block it also returns the old one. The caller puts that back after it has
// written the n bytes, because they may come from the old block.
func (b *Buffer) grow(n int) (at int, old []byte) {
	unread := b.Len()
	if unread == 0 && b.off != 0 {
		b.Reset()
	}
	switch {
	case n <= cap(b.buf)-len(b.buf):
		at = len(b.buf)
		b.buf = b.buf[:at+n]
		return at, nil
	case n <= b.off-unread:
		// More has been read than is unread, so the earlier reads pay for this copy.
		// It overwrites only buf[:off-n]: neither the unread bytes nor what Next has
		// just returned, either of which may be what the caller is about to write.
		copy(b.buf, b.buf[b.off:])
	default:
		block := b.larger(unread, n)
		copy(block, b.buf[b.off:])
		old, b.buf = b.buf, block
	}
	b.off = 0
	b.buf = b.buf[:unread+n]
	return unread, old
}

// larger takes a block for the unread bytes and n more, with room for later writes. If
// the Buffer has a block of the largest class that is mostly unread, larger takes a
// slice beyond the classes: another block of that size would soon be full, and would
// have to be copied again.
func (b *Buffer) larger(unread, n int) []byte {
	has := cap(b.buf)
	if has > math.MaxInt-has-n {
		panic(bytes.ErrTooLarge)
	}
	size := max(unread+n, 2*has, firstBlock)
	if largest := b.home().classes.Largest(); unread+n <= largest && (has < largest || unread+n <= has/2) {
		size = min(size, largest)
	}
	return b.take(size)
}

// take is BytePool.Get, but panics as bytes.Buffer does if the allocation is impossible.
func (b *Buffer) take(size int) []byte {
	p := b.home()
	if size > p.classes.Largest() {
		defer func() {
			if recover() != nil {
				panic(bytes.ErrTooLarge)
			}
		}()
	}
	return p.Get(size)
}

// Bytes returns the unread bytes. The slice is valid until the next call that
// writes, grows or releases.
func (b *Buffer) Bytes() []byte { return b.buf[b.off:] }

// AvailableBuffer returns an empty slice of the free part of the Buffer's block. The
// caller may append to it and pass it to the immediately succeeding Write.
func (b *Buffer) AvailableBuffer() []byte { return b.buf[len(b.buf):] }

// String returns a copy of the unread bytes, and "<nil>" for a nil Buffer.
func (b *Buffer) String() string {
	if b == nil {
		return "<nil>"
	}
	return string(b.buf[b.off:])
}

// Len returns the number of unread bytes.
func (b *Buffer) Len() int { return len(b.buf) - b.off }

// Cap returns the size of the Buffer's block, or 0 if it has none.
func (b *Buffer) Cap() int { return cap(b.buf) }

// Available returns how many bytes can be written before the Buffer has to grow.
func (b *Buffer) Available() int { return cap(b.buf) - len(b.buf) }

// Reset empties the Buffer, which keeps its block.
func (b *Buffer) Reset() {
	b.buf = b.buf[:0]
	b.off = 0
	b.last = readNothing
}

// Truncate drops all but the first n unread bytes. It panics if there are fewer,
// or if n is negative.
func (b *Buffer) Truncate(n int) {
	if n == 0 {
		b.Reset()
		return
	}
	b.last = readNothing
	if n < 0 || n > b.Len() {
		panic("bytes.Buffer: truncation out of range")
	}
	b.buf = b.buf[:b.off+n]
}
