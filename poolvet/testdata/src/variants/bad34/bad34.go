// Package bad34 opens compressed streams.
package bad34

import (
	"compress/flate"
	"errors"
	"io"
	"sync"
)

// Decoder is a recycled inflater.
type Decoder struct {
	io.ReadCloser
	magic [2]byte
}

var decoders = sync.Pool{
	New: func() any { return &Decoder{ReadCloser: flate.NewReader(nil)} },
}

// ErrMagic says that the stream is no compressed one.
var ErrMagic = errors.New("wrong magic number")

// Release gives a decoder back when its stream has been read.
func Release(d *Decoder) {
	decoders.Put(d)
}

// Open gives a decoder for the stream; the caller must Release it.
func Open(r io.Reader) (d *Decoder, err error) {
	d = decoders.Get().(*Decoder)
	defer func() {
		if err != nil {
			decoders.Put(d) // want `\(wrongput\)`
		}
	}()
	if _, err = io.ReadFull(r, d.magic[:]); err != nil {
		return nil, err
	}
	if d.magic != [2]byte{'F', 'L'} {
		return nil, ErrMagic
	}
	if err = d.ReadCloser.(flate.Resetter).Reset(r, nil); err != nil {
		return nil, err
	}
	return d, nil
}
