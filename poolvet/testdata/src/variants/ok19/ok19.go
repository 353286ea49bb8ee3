// Package ok19 writes protocol messages.
package ok19

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"sync"
)

type frame struct {
	b []byte
}

var frames = sync.Pool{New: func() any { return &frame{b: make([]byte, 0, 1024)} }}

// Message can be marshalled.
type Message interface {
	AppendTo([]byte) ([]byte, error)
}

// Conn writes messages.
type Conn struct {
	w     io.Writer
	id    string
	debug bool
}

// WriteMessage writes a message with its length.
func (c *Conn) WriteMessage(m Message) error {
	f := frames.Get().(*frame)
	b, err := m.AppendTo(append(f.b[:0], 0, 0, 0, 0))
	if err != nil {
		frames.Put(f)
		return fmt.Errorf("marshalling: %w", err)
	}
	f.b = b
	binary.BigEndian.PutUint32(f.b, uint32(len(f.b)-4))
	n, err := c.w.Write(f.b)
	head := [4]byte(f.b[:4])
	size := len(f.b)
	frames.Put(f)
	if c.debug {
		log.Printf("%s: wrote %d of %d bytes, %x (err=%v)", c.id, n, size, head, err)
	}
	return err
}
