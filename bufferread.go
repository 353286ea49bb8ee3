package dewpond

import (
	"bytes"
	"io"
	"unicode/utf8"
)

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
	b.last = readNothing
	if b.exhausted() {
		if len(p) > 0 {
			err = io.EOF
		}
		return 0, err
	}
	if n = copy(p, b.buf[b.off:]); n > 0 {
		b.off += n
		b.last = readBytes
	}
	return n, nil
}

// Next reads n bytes, or all if there are fewer, and returns them as a slice of the
// Buffer's block. The slice is valid until the next call that writes, grows or releases.
func (b *Buffer) Next(n int) []byte {
	b.last = readNothing
	n = min(n, b.Len())
	next := b.buf[b.off : b.off+n]
	if n > 0 {
		b.off += n
		b.last = readBytes
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
	b.last = readBytes
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
	b.last = lastRead(size)
	return r, size, nil
}

// UnreadRune takes back a ReadRune. It returns an error if the last call that read
// or wrote was not a successful ReadRune.
func (b *Buffer) UnreadRune() error {
	if b.last <= readNothing {
		return errUnreadRune
	}
	// A Grow that moved the contents has dropped the bytes that were read.
	if size := int(b.last); b.off >= size {
		b.off -= size
	}
	b.last = readNothing
	return nil
}

// UnreadByte takes back the last byte that was read. It returns an error if the
// last call that read or wrote was not a successful read.
func (b *Buffer) UnreadByte() error {
	if b.last == readNothing {
		return errUnreadByte
	}
	b.off = max(b.off-1, 0)
	b.last = readNothing
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
	b.last = readBytes
	return part, err
}

// WriteTo writes all that is left to w, in one Write. It returns the count and the error
// of that Write, or [io.ErrShortWrite] if it wrote less without an error. What was not
// written stays in the Buffer. w must neither keep the bytes nor use the Buffer. WriteTo
// panics if w returns a count larger than the number of bytes it was given.
func (b *Buffer) WriteTo(w io.Writer) (n int64, err error) {
	b.last = readNothing
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
