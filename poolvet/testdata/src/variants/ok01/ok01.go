// Package ok01 renders stored objects as JSON lines.
package ok01

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

var lineBuffers = sync.Pool{
	New: func() any { return new(bytes.Buffer) },
}

// Object is one row of the store.
type Object struct {
	ID      string `json:"id"`
	Payload string `json:"payload"`
}

// Lines renders all rows.
func Lines(rows []Object) ([]byte, error) {
	buf := lineBuffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer lineBuffers.Put(buf)

	enc := json.NewEncoder(buf)
	for i := range rows {
		if err := enc.Encode(&rows[i]); err != nil {
			return nil, fmt.Errorf("row %s: %w", rows[i].ID, err)
		}
	}
	return bytes.Clone(buf.Bytes()), nil
}
