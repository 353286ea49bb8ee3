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
// To append everything in place and write it once is faster than many writes:
//
//	b.Grow(1200) // or about as much
//	p := b.AvailableBuffer()
//	p = append(p, "id="...)
//	p = strconv.AppendInt(p, id, 10)
//	b.Write(p) // copies nothing, unless p has outgrown the block
//
// The zero Buffer is empty and ready to use, on the pool [Default]. A Buffer must not be
// copied after its first use, and must not be used by several goroutines at once.
//
// A Buffer that [BytePool.TryBuffer] has made may be refused the block that a write needs:
// where [BytePool.TryGet] returns an error, the write returns it too. A write that is
// refused writes nothing, and what the Buffer holds stays as it was: it can be read,
// written out and released, and written to once there is room again. Of any other Buffer
// no write returns an error.
//
// The first write takes a block as large as Buffers of the pool have needed lately. A Buffer
// that grows takes a larger block, at least twice as large while the pool has such a class,
// and puts the old block back. So the slices that Bytes, AvailableBuffer, Next and Peek
// return are valid only until the next call that writes to the Buffer, grows it or releases
// it: after that their block may have another owner. This is stricter than bytes.Buffer,
// whose old slices only go stale. The caller must not Put these slices: the Buffer puts its
// blocks back. A slice that the last call returned may be the argument of the next call:
// b.Write(b.Bytes()) doubles what b holds.
type Buffer struct {
	_    noCopy
	pool *BytePool // nil: Default()
	buf  []byte    // from the start of its block; nil: no block
	off  int       // buf[off:] is unread

	// limit is how far a write may fill buf without looking at anything else: cap(buf). If
	// the last call read, which a write has to undo, limit is readBytes, or readBytes-n for
	// a rune of n bytes. So a short write compares once, and stores nothing but its bytes
	// and buf's new length. limit is set where buf's block is, before anything that may
	// panic.
	limit int

	try     bool // its blocks come from TryGet
	guessed bool // the block has the size that the pool has learned
	longest int  // the most that the block has held when it was emptied
}

const readBytes = -1

// A noCopy in a struct makes go vet report copies of it.
type noCopy struct{}

func (*noCopy) Lock() {}

func (*noCopy) Unlock() {}

var (
	errNegativeRead = errors.New("bytes.Buffer: reader returned negative count from Read")
	errUnreadByte   = errors.New("bytes.Buffer: UnreadByte: previous operation was not a successful read")
	errUnreadRune   = errors.New("bytes.Buffer: UnreadRune: previous operation was not a successful ReadRune")
)

// Release gives the Buffer's block back to the pool and leaves the Buffer empty. The
// Buffer can be used again. Release does nothing if the Buffer has no block, for
// instance because it was released before, so a deferred Release is always right.
func (b *Buffer) Release() {
	block, _ := b.handOver()
	b.put(block)
}

// handOver leaves the Buffer empty and returns the block that it had, which the caller
// owns now, or nil. block[off:] was unread.
func (b *Buffer) handOver() (block []byte, off int) {
	if b.guessed {
		b.guessed = false
		b.home().first.Sufficed(max(b.longest, len(b.buf)), cap(b.buf))
	}
	block, off = b.buf, b.off
	b.buf, b.off, b.limit, b.longest = nil, 0, 0, 0
	return block, off
}

// Lease hands the unread bytes over as a [Lease]. The Buffer is empty, as after
// [Buffer.Release], and can be used again. The cap of the Lease's bytes is their length.
//
// The Lease owns the Buffer's block, without a copy, if that fits. If it is two or more
// classes larger than the unread bytes need, or more than twice as large, Lease copies them
// to a block that fits and puts the Buffer's back, so that a Lease which is kept for long
// holds little more than its bytes. It does not copy if AllocRate or the [Budget] does not
// allow another block now, nor what is larger than the largest class.
//
// The Lease of an empty Buffer has length 0 and no block, and must be released too. Lease
// panics if it does not copy and the Buffer, with what was read of it, has 4 GiB or more.
func (b *Buffer) Lease() Lease {
	p := b.home()
	if n := b.Len(); n == 0 || p.isTooLarge(cap(b.buf), n) {
		if fitting := p.getIfAllowed(n); fitting != nil {
			copy(fitting, b.Bytes())
			block, _ := b.handOver()
			return p.newLease(moved(p, block, fitting)).Truncate(n)
		}
	}
	l := p.LeaseOf(b.buf)
	all, read := b.handOver()
	if read == 0 {
		return l.Truncate(len(all))
	}
	defer l.Release() // the part remains, and the block goes back from its start
	return l.Slice(read, len(all))
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

// Write appends p. It returns len(p) and nil, or 0 and an error if it is refused a block. It
// does not copy what is in its place already: what was appended to
// [Buffer.AvailableBuffer], and fits. It panics with [bytes.ErrTooLarge] if no memory can
// hold that much.
func (b *Buffer) Write(p []byte) (n int, err error) {
	at := len(b.buf)
	if len(p) > b.limit-at {
		return b.writeSlow(p)
	}
	b.buf = b.buf[:at+len(p)]
	if dataOf(b.buf[at:]) != dataOf(p) {
		copy(b.buf[at:], p)
	}
	return len(p), nil
}

// writeSlow is Write when the last call read, or when the block has no room.
func (b *Buffer) writeSlow(p []byte) (n int, err error) {
	var old []byte
	if b.limit = cap(b.buf); len(p) > b.limit-len(b.buf) {
		if old, err = b.makeRoom(len(p)); err != nil {
			return 0, err
		}
	}
	b.buf = append(b.buf, p...)
	b.put(old)
	return len(p), nil
}

// WriteString appends s, as Write does.
func (b *Buffer) WriteString(s string) (n int, err error) {
	return appendString(b, s, (*Buffer).writeStringSlow)
}

// WriteByte appends c, as Write does.
func (b *Buffer) WriteByte(c byte) error { return appendByte(b, c, (*Buffer).writeByteSlow) }

// appendString and appendByte are inlined into the callers of WriteString and WriteByte: a
// call would take longer than a short write. slow is a parameter because the call of a
// parameter costs 17 of the inliner's budget of 80, and that of a method 57.
func appendString(b *Buffer, s string, slow func(b *Buffer, s string) (int, error)) (int, error) {
	at := len(b.buf)
	if len(s) > b.limit-at {
		return slow(b, s)
	}
	b.buf = b.buf[:at+len(s)]
	copy(b.buf[at:], s)
	return len(s), nil
}

func appendByte(b *Buffer, c byte, slow func(b *Buffer, c byte) error) error {
	if len(b.buf) >= b.limit {
		return slow(b, c)
	}
	b.buf = append(b.buf, c)
	return nil
}

func (b *Buffer) writeStringSlow(s string) (n int, err error) {
	var old []byte
	if b.limit = cap(b.buf); len(s) > b.limit-len(b.buf) {
		if old, err = b.makeRoom(len(s)); err != nil {
			return 0, err
		}
	}
	b.buf = append(b.buf, s...)
	b.put(old)
	return len(s), nil
}

func (b *Buffer) writeByteSlow(c byte) (err error) {
	var old []byte
	if b.limit = cap(b.buf); len(b.buf) == b.limit {
		if old, err = b.makeRoom(1); err != nil {
			return err
		}
	}
	b.buf = append(b.buf, c)
	b.put(old)
	return nil
}

// WriteRune appends r in UTF-8, or U+FFFD if r is not a valid rune, as Write does.
func (b *Buffer) WriteRune(r rune) (n int, err error) {
	if uint32(r) < utf8.RuneSelf {
		if err := b.WriteByte(byte(r)); err != nil {
			return 0, err
		}
		return 1, nil
	}
	at := len(b.buf)
	if utf8.UTFMax > b.limit-at {
		return b.Write(utf8.AppendRune(make([]byte, 0, utf8.UTFMax), r))
	}
	b.buf = utf8.AppendRune(b.buf, r)
	return len(b.buf) - at, nil
}

// Grow makes room for n more bytes, which can then be written without taking another
// block. If the final size is roughly known, Grow saves growing step by step. If it is
// refused a block, as only a Buffer of [BytePool.TryBuffer] may be, it does nothing:
// [Buffer.TryGrow] says so. Grow panics if n is negative, and as Write does.
func (b *Buffer) Grow(n int) {
	if _, ok := b.TryGrow(n).(lengthError); ok {
		panic(bytes.ErrTooLarge)
	}
}

// TryGrow is like [Buffer.Grow], but returns the error if it is refused a block. Of a Buffer that may be
// refused it returns an error too, and does not panic, if no memory holds n more bytes. A Buffer
// that is refused twice what it holds, which it asks for first, asks for what n needs, or
// above the largest class for an eighth more than it holds.
func (b *Buffer) TryGrow(n int) error {
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

// ReadFrom appends what r returns until [io.EOF] or another error. It returns the number
// of bytes read, and the error unless it is io.EOF. Each Read gets a slice of
// [bytes.MinRead] bytes or more of the Buffer's block: r must neither keep the slice nor
// use the Buffer. If r has a method Len, as a [strings.Reader] has, ReadFrom takes one
// block for all that r has. ReadFrom panics if r returns a negative count, and as Write
// does.
//
// A Buffer that may be refused a block takes none for all that r has. If it is refused one
// and its own is full, ReadFrom returns the number of bytes that it has read, which the
// Buffer keeps, and the error. The last Reads before that get slices of fewer than
// bytes.MinRead bytes.
func (b *Buffer) ReadFrom(r io.Reader) (n int64, err error) {
	b.limit = cap(b.buf)
	if n := lenOf(r); n > 0 && !b.try { // if that were refused, it would be twice
		_ = b.reserve(n + bytes.MinRead)
	}
	refused := false // then what is left of the block is filled first
	for {
		if !refused || b.Available() == 0 {
			err := b.reserve(bytes.MinRead)
			if refused = err != nil; refused && b.Available() == 0 {
				return n, err
			}
		}
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

// setLimit sets limit for another block, unless the last call read.
func (b *Buffer) setLimit() {
	if b.limit >= 0 {
		b.limit = cap(b.buf)
	}
}

// reserve makes room for n more bytes.
func (b *Buffer) reserve(n int) error {
	old, err := b.makeRoom(n)
	b.put(old)
	return err
}

// makeRoom makes room for n more bytes. If it takes a larger block it also returns the old
// one. The caller puts that back after it has written the n bytes, because they may come
// from the old block.
func (b *Buffer) makeRoom(n int) (old []byte, err error) {
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
	p := b.home()
	if has > math.MaxInt-has-n {
		if b.try {
			return nil, p.answer(n, tooLong("a Buffer of pool %q that has %d bytes, and %d more: no memory holds them", p.name, unread, n))
		}
		panic(bytes.ErrTooLarge)
	}
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
// is impossible. Of a Buffer that may be refused it is TryGet, of least bytes if there is no block of size.
func (b *Buffer) take(size, least int) (block []byte, err error) {
	p := b.home()
	if b.try {
		if block, err = p.tryGetUncounted("TryBuffer", size); err != nil && least < size {
			size = least
			block, err = p.tryGetUncounted("TryBuffer", size)
		}
		return block, p.answer(size, err)
	}
	if size > p.classes.Largest() {
		defer func() {
			if recover() != nil {
				panic(bytes.ErrTooLarge)
			}
		}()
	}
	return p.Get(size), nil
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
	b.longest = max(b.longest, len(b.buf))
	b.buf = b.buf[:0]
	b.off = 0
	b.limit = cap(b.buf)
}

// Truncate drops all but the first n unread bytes. It panics if there are fewer,
// or if n is negative.
func (b *Buffer) Truncate(n int) {
	if n == 0 {
		b.Reset()
		return
	}
	b.limit = cap(b.buf)
	if n < 0 || n > b.Len() {
		panic("bytes.Buffer: truncation out of range")
	}
	b.buf = b.buf[:b.off+n]
}

// exhausted reports whether nothing is left to read. If so it resets the Buffer, so that
// its whole block can be written again.
func (b *Buffer) exhausted() bool {
	if b.off < len(b.buf) {
		return false
	}
	b.Reset()
	return true
}

// Read reads up to len(p) bytes into p. If nothing is left it returns [io.EOF],
// unless p is empty.
func (b *Buffer) Read(p []byte) (n int, err error) {
	b.limit = cap(b.buf)
	if b.exhausted() {
		if len(p) > 0 {
			err = io.EOF
		}
		return 0, err
	}
	if n = copy(p, b.buf[b.off:]); n > 0 {
		b.off += n
		b.limit = readBytes
	}
	return n, nil
}

// Next reads n bytes, or all if there are fewer, and returns them as a slice of the
// Buffer's block. The slice is valid until the next call that writes, grows or releases.
func (b *Buffer) Next(n int) []byte {
	b.limit = cap(b.buf)
	n = min(n, b.Len())
	next := b.buf[b.off : b.off+n]
	if n > 0 {
		b.off += n
		b.limit = readBytes
	}
	return next
}

// Peek returns the next n bytes without reading them, or all that are left and [io.EOF]
// if there are fewer. The slice is valid as long as that of Next.
func (b *Buffer) Peek(n int) ([]byte, error) {
	if n > b.Len() {
		return b.buf[b.off:], io.EOF
	}
	return b.buf[b.off : b.off+n], nil
}

// ReadByte reads a byte. If nothing is left it returns [io.EOF].
func (b *Buffer) ReadByte() (byte, error) {
	if b.exhausted() {
		return 0, io.EOF
	}
	c := b.buf[b.off]
	b.off++
	b.limit = readBytes
	return c, nil
}

// ReadRune reads a rune in UTF-8, and returns it and its size in bytes. If the bytes are
// not valid UTF-8 it reads one byte and returns U+FFFD and 1. If nothing is left it
// returns [io.EOF].
func (b *Buffer) ReadRune() (r rune, size int, err error) {
	if b.exhausted() {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRune(b.buf[b.off:])
	b.off += size
	b.limit = readBytes - size
	return r, size, nil
}

// UnreadRune takes back a ReadRune. It returns an error if the last call that read
// or wrote was not a successful ReadRune.
func (b *Buffer) UnreadRune() error {
	size := readBytes - b.limit
	if size <= 0 {
		return errUnreadRune
	}
	// A Grow that moved the contents has dropped the bytes that were read.
	if b.off >= size {
		b.off -= size
	}
	b.limit = cap(b.buf)
	return nil
}

// UnreadByte takes back the last byte that was read. It returns an error if the
// last call that read or wrote was not a successful read.
func (b *Buffer) UnreadByte() error {
	if b.limit >= 0 {
		return errUnreadByte
	}
	b.off = max(b.off-1, 0)
	b.limit = cap(b.buf)
	return nil
}

// ReadBytes reads up to and including the first delim and returns a copy. If there is no
// delim it returns all that is left, and [io.EOF].
func (b *Buffer) ReadBytes(delim byte) (line []byte, err error) {
	part, err := b.readThrough(delim)
	return append(line, part...), err
}

// ReadString is like [Buffer.ReadBytes], but returns a string.
func (b *Buffer) ReadString(delim byte) (line string, err error) {
	part, err := b.readThrough(delim)
	return string(part), err
}

// readThrough is ReadBytes without the copy.
func (b *Buffer) readThrough(delim byte) (part []byte, err error) {
	part = b.buf[b.off:]
	if i := bytes.IndexByte(part, delim); i >= 0 {
		part = part[:i+1]
	} else {
		err = io.EOF
	}
	b.off += len(part)
	b.limit = readBytes
	return part, err
}

// WriteTo writes all that is left to w, in one Write. It returns the count and the error
// of that Write, or [io.ErrShortWrite] if it wrote less without an error. What was not
// written stays in the Buffer. w must neither keep the bytes nor use the Buffer. WriteTo
// panics if w returns a count larger than the number of bytes it was given.
func (b *Buffer) WriteTo(w io.Writer) (n int64, err error) {
	b.limit = cap(b.buf)
	if left := b.Len(); left > 0 {
		m, err := w.Write(b.buf[b.off:])
		if m > left {
			panic("bytes.Buffer.WriteTo: invalid Write count")
		}
		// Some writers return -1 with an error, as system calls do: nothing was written.
		b.off += max(m, 0)
		switch {
		case err != nil:
			return int64(m), err
		case m != left:
			return int64(m), io.ErrShortWrite
		}
		n = int64(m)
	}
	b.Reset()
	return n, nil
}
