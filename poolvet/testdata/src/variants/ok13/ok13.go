// Package ok13 reads simple mail headers.
package ok13

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

var linePool = sync.Pool{
	New: func() any {
		b := make([]byte, 0, 998)
		return &b
	},
}

// Headers maps names to values.
type Headers map[string]string

func (h Headers) readOne(br *bufio.Reader) (more bool, err error) {
	lp := linePool.Get().(*[]byte)
	defer linePool.Put(lp)
	frag, err := br.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	*lp = append((*lp)[:0], frag...)
	line := bytes.TrimRight(*lp, "\r\n")
	if len(line) == 0 {
		return false, nil
	}
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return false, errors.New("malformed header")
	}
	h[string(bytes.ToLower(name))] = string(bytes.TrimSpace(value))
	return true, nil
}

// Read reads until the empty line.
func Read(r io.Reader) (Headers, error) {
	br := bufio.NewReader(r)
	h := make(Headers)
	for {
		more, err := h.readOne(br)
		if err != nil || !more {
			return h, err
		}
	}
}
