// Package bad02 signs block headers.
package bad02

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
)

var scratch sync.Pool

func get() *bytes.Buffer {
	if v := scratch.Get(); v != nil {
		b := v.(*bytes.Buffer)
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// Header is the fixed part of a block.
type Header struct {
	Version uint32
	Height  uint64
	Parent  [32]byte
	Extra   []byte
}

var errExtra = errors.New("extra data too long")

// Commitment gives the bytes that are hashed for the header.
func (h *Header) Commitment() (out []byte, err error) {
	b := get()
	defer func() {
		if err != nil {
			out = nil
		}
		scratch.Put(b)
	}()

	if len(h.Extra) > 1<<12 {
		return nil, errExtra
	}
	if err = binary.Write(b, binary.BigEndian, h.Version); err != nil {
		return
	}
	if err = binary.Write(b, binary.BigEndian, h.Height); err != nil {
		return
	}
	b.Write(h.Parent[:])
	b.Write(h.Extra)
	out = b.Bytes()
	return // want `\(returnput\)`
}
