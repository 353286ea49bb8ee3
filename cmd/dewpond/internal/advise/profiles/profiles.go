// Package profiles reads the profiles of runtime/pprof piece by piece, so that one of 100 MB takes
// not much more memory than one of 10. The pieces are decoded by google/pprof.
package profiles

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
)

// What a profile may have, unpacked. One that has more was not written by runtime/pprof.
const (
	mostBytes  = 8 << 30  // in all
	mostTables = 48 << 20 // besides the samples: functions, locations, strings
)

// pieceBytes of samples are decoded at a time. Tests take less.
var pieceBytes = 4 << 20

// Errors of files that are no whole profile.
var (
	ErrFormat = errors.New("it is no profile of pprof")
	ErrCut    = errors.New("it is cut off")
)

// sampleField is the number of the field of a profile that its samples have. Every other field is
// small beside them, and what a sample means is in those.
const sampleField = 2

// Each reads a profile, packed by gzip or not, and calls each with pieces of it: all that it has but
// for the samples, of which each piece has some. A profile without samples is one piece. open is
// called twice, and opens the same bytes from the start.
func Each(open func() (io.ReadCloser, error), each func(*profile.Profile) error) error {
	var tables, piece []byte
	samples := 0
	err := fields(open, func(number uint64, field []byte) error {
		if number == sampleField {
			samples++
			return nil
		}
		if tables = append(tables, field...); len(tables) > mostTables {
			return fmt.Errorf("%w: it has more than %d MB of symbols", ErrFormat, mostTables>>20)
		}
		return nil
	})
	if err != nil {
		return err
	}
	decode := func() error {
		p, err := profile.ParseUncompressed(append(bytes.Clone(tables), piece...))
		if err != nil {
			return fmt.Errorf("%w: %v", ErrFormat, err)
		}
		if err := p.CheckValid(); err != nil {
			return fmt.Errorf("%w: %v", ErrFormat, err)
		}
		return each(p)
	}
	if samples == 0 {
		return decode()
	}
	err = fields(open, func(number uint64, field []byte) error {
		if number != sampleField {
			return nil
		}
		piece = append(piece, field...)
		if len(piece) < pieceBytes {
			return nil
		}
		err := decode()
		piece = piece[:0]
		return err
	})
	if err == nil && len(piece) > 0 {
		err = decode()
	}
	return err
}

// fields calls each with the encoded fields of the profile, one after the other. They are valid until
// it returns.
func fields(open func() (io.ReadCloser, error), each func(number uint64, field []byte) error) (err error) {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	packed := bufio.NewReaderSize(file, 64<<10)
	r := packed
	if magic, _ := packed.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		plain, err := gzip.NewReader(packed)
		if err != nil {
			return cut(err)
		}
		r = bufio.NewReaderSize(plain, 64<<10)
	}
	var field []byte
	for total := 0; ; total += len(field) {
		if _, err := r.Peek(1); errors.Is(err, io.EOF) && total > 0 {
			return nil
		} else if err != nil {
			return cut(err)
		}
		var number uint64
		if number, field, err = next(r, field[:0]); err != nil {
			return cut(err)
		}
		if total > mostBytes {
			return fmt.Errorf("%w: it has more than %d GB", ErrFormat, mostBytes>>30)
		}
		if err := each(number, field); err != nil {
			return err
		}
	}
}

// next appends the next field, with its tag, to buffer.
func next(r *bufio.Reader, buffer []byte) (number uint64, field []byte, err error) {
	tag, err := uvarint(r)
	if err != nil {
		return 0, nil, err
	}
	buffer = binary.AppendUvarint(buffer, tag)
	length := uint64(0)
	switch tag & 7 {
	case 0:
		value, err := uvarint(r)
		return tag >> 3, binary.AppendUvarint(buffer, value), err
	case 1:
		length = 8
	case 2:
		if length, err = uvarint(r); err != nil {
			return 0, nil, err
		}
		buffer = binary.AppendUvarint(buffer, length)
	case 5:
		length = 4
	default:
		return 0, nil, ErrFormat
	}
	if tag>>3 == 0 || length > mostTables {
		return 0, nil, ErrFormat
	}
	// In steps, so that a length that lies costs no memory.
	for at := len(buffer); length > 0; at = len(buffer) {
		step := min(length, 64<<10)
		buffer = append(buffer, make([]byte, step)...)
		if _, err := io.ReadFull(r, buffer[at:]); err != nil {
			return 0, nil, err
		}
		length -= step
	}
	return tag >> 3, buffer, nil
}

// uvarint is [binary.ReadUvarint], but for its error of a number that is too long.
func uvarint(r *bufio.Reader) (v uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, ErrFormat
}

// cut gives errors that a file's end or damage causes one of the sentinels.
func cut(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCut
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)):
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return err
}
