// Package bad01 renders stored objects as JSON lines.
package bad01

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

var lineBuffers = sync.Pool{
	New: func() any { return new(bytes.Buffer) },
}

// Object is one row of the store.
type Object struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Payload  string    `json:"payload"`
}

// Renderer turns rows into newline delimited JSON.
type Renderer struct {
	indent bool
}

// NewRenderer returns a renderer.
func NewRenderer(indent bool) *Renderer { return &Renderer{indent: indent} }

// Lines renders all rows.
func (r *Renderer) Lines(rows []Object) ([]byte, error) {
	buf := lineBuffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer lineBuffers.Put(buf)

	enc := json.NewEncoder(buf)
	if r.indent {
		enc.SetIndent("", "  ")
	}
	for i := range rows {
		if err := enc.Encode(&rows[i]); err != nil {
			return nil, fmt.Errorf("row %s: %w", rows[i].ID, err)
		}
	}
	return buf.Bytes(), nil // want `\(returnput\)`
}
