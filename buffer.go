package dewpond

import (
	"bytes"
	"errors"
	"io"
	"math"
	"unicode/utf8"
)

// A Buffer does what a bytes.Buffer does, with the same methods, errors and panics,
// on blocks of a BytePool. Make one with BytePool.Buffer and end it with Release:
//
//	b := pool.Buffer()
//	defer b.Release()
//
// The zero Buffer is empty and ready to use, on the pool Default(). A Buffer must
// not be copied after its first use, nor used by several goroutines at once.
//
// A Buffer that grows takes a larger block, at least twice as large while the pool
// has such a class, and puts the old one back. So the slices that Bytes,
// AvailableBuffer, Next and Peek return are valid only until the next call that
// writes to the Buffer or grows it, and until Release: their block may be
// somebody else's then. This is stricter than bytes.Buffer, whose old slices only
// go stale. Nor may they be Put: the Buffer does that. What the last call returned may
// be the argument of the next: b.Write(b.Bytes()) doubles what b holds.
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

// A lastRead is what the Buffer's last call read, for UnreadByte and UnreadRune:
// the size of a rune, or one of these.
type lastRead int8

const (
	readNothing lastRead = 0
	readBytes   lastRead = -1
)

// firstBlock is the least that a first write takes. Growing to it from the smallest
// class adds 6 % to the time in which a body of 1.2 KB is built.
const firstBlock = 512

var (
	errNegativeRead = errors.New("bytes.Buffer: reader returned negative count from Read")
	errUnreadByte   = errors.New("bytes.Buffer: UnreadByte: previous operation was not a successful read")
	errUnreadRune   = errors.New("bytes.Buffer: UnreadRune: previous operation was not a successful ReadRune")
)

// Buffer returns an empty Buffer on blocks of this pool, which takes none before
// the first write. One that does not escape its caller costs no allocation, one that
// does costs one: the Buffer itself is never pooled, so a stale pointer to it
// never becomes a pointer to somebody else's.
func (p *BytePool) Buffer() *Buffer {
	return &Buffer{pool: p.actual()} // a nil pool panics, as everywhere, instead of being the default one
}

// Release gives the Buffer's block back to the pool and leaves the Buffer empty;
// it can be used again. On an empty Buffer without a block, such as one that was
// released, it does nothing, so that a deferred Release is always right.
func (b *Buffer) Release() {
	block := b.buf
	b.buf, b.off, b.last = nil, 0, readNothing
	b.put(block)
}

// home returns the pool that the Buffer's blocks are of.
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

// Write appends p. It returns len(p) and nil; it panics with bytes.ErrTooLarge
// where the Buffer would become too large.
func (b *Buffer) Write(p []byte) (n int, err error) {
	b.last = readNothing
	at := len(b.buf)
	if len(p) > cap(b.buf)-at {
		return b.writeSlow(p)
	}
	b.buf = b.buf[:at+len(p)]
	return copy(b.buf[at:], p), nil
}

// writeSlow is Write where the block has no room.
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

// WriteRune appends r in UTF-8, or U+FFFD for what is no rune, and returns the
// number of bytes and nil. It panics as Write does.
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

// Grow makes room for n more bytes, which can then be written without another
// block. Where about so many are known to come it saves growing step by step. It
// panics if n is negative, and as Write does.
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

// ReadFrom appends what r returns until io.EOF, which is no error, or another
// error. It returns the bytes read. Each Read is offered bytes.MinRead bytes or
// more, which are of the Buffer's block: r must neither keep them nor use the
// Buffer. It panics if r returns a negative count, and as Write does.
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

// grow lengthens the contents by n bytes and returns where those start. If it took
// a larger block it returns the old one as well, for the caller to put back once
// it has written the n bytes: they may come from there.
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
		// More was read than is kept, so those reads pay for moving it down. Only
		// buf[:off-n] is overwritten: neither what is unread nor what Next has
		// just returned, and one of them may be what the caller is to write.
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

// larger takes a block for the unread bytes and n more, with room for what may
// follow. A block of the largest class that is mostly unread gives way to one beyond
// the classes: another of its size would have to be copied again at once.
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

// take is Get, but panics as bytes.Buffer does where so much cannot be allocated.
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

// AvailableBuffer returns an empty slice of what is free in the Buffer's block, to
// append to and then give to Write, with no other call between.
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

// Cap returns the size of the Buffer's block, 0 if it has none.
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
