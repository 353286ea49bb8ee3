// Package bad14 reads simple mail headers.
package bad14

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

// Headers maps names to raw values.
type Headers map[string][]byte

func readLine(br *bufio.Reader, into []byte) ([]byte, error) {
	for {
		frag, err := br.ReadSlice('\n')
		into = append(into, frag...)
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimRight(into, "\r\n"), err
	}
}

func (h Headers) readOne(br *bufio.Reader) (more bool, err error) {
	lp := linePool.Get().(*[]byte)
	defer linePool.Put(lp)
	line, err := readLine(br, (*lp)[:0])
	if err != nil {
		return false, err
	}
	if len(line) == 0 {
		return false, nil
	}
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return false, errors.New("malformed header")
	}
	h[string(bytes.ToLower(name))] = bytes.TrimSpace(value) // want `\(returnput\)`
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
