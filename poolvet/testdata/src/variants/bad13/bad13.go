// Package bad13 splits JSON-RPC lines into calls.
package bad13

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readAll reads all of r into a recycled buffer.
func readAll(r io.Reader) (data []byte, cleanup func(), err error) {
	b := pool.Get().(*bytes.Buffer)
	b.Reset()
	cleanup = func() { pool.Put(b) }
	if _, err = b.ReadFrom(r); err != nil {
		cleanup()
		return nil, nil, err
	}
	return b.Bytes(), cleanup, nil
}

// Call is one request of the batch.
type Call struct {
	Line int
	Raw  json.RawMessage
}

// Parse reads one call per line.
func Parse(r io.Reader) ([]Call, error) {
	data, cleanup, err := readAll(r)
	if err != nil {
		return nil, err
	}
	defer cleanup()

	var calls []Call
	for i, line := range bytes.Split(data, []byte{'\n'}) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || !json.Valid(line) {
			continue
		}
		calls = append(calls, Call{Line: i + 1, Raw: json.RawMessage(line)})
	}
	return calls, nil // want `\(returnput\)`
}
