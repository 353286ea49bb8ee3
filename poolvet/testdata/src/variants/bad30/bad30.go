// Package bad30 writes protocol messages.
package bad30

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"sync"
)

type bufferPool struct {
	p sync.Pool
}

// Get gives a slice of that length.
func (bp *bufferPool) Get(n int) *[]byte {
	if v, ok := bp.p.Get().(*[]byte); ok && cap(*v) >= n {
		*v = (*v)[:n]
		return v
	}
	b := make([]byte, n, max(n, 1024))
	return &b
}

// Put takes a slice back.
func (bp *bufferPool) Put(b *[]byte) { bp.p.Put(b) }

var (
	buffers bufferPool
	debug   bool
)

type message interface {
	Size() int
	MarshalTo([]byte) (int, error)
}

// Conn writes messages.
type Conn struct {
	w  io.Writer
	id string
}

// WriteMessage writes a message with its length.
func (c *Conn) WriteMessage(m message) error {
	size := m.Size()
	buf := buffers.Get(4 + size)
	binary.BigEndian.PutUint32(*buf, uint32(size))
	if _, err := m.MarshalTo((*buf)[4:]); err != nil {
		buffers.Put(buf)
		return fmt.Errorf("marshalling: %w", err)
	}
	n, err := c.w.Write(*buf)
	buffers.Put(buf)
	if debug {
		log.Printf("%s: wrote %d bytes, %x (err=%v)", c.id, n, (*buf)[:4], err) // want `\(useafterput\)`
	}
	return err
}
