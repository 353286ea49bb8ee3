// Package bad38 compresses blobs at a level that can be changed.
package bad38

import (
	"bytes"
	"compress/zlib"
	"io"
	"sync"
)

// Compressor compresses at the configured level.
type Compressor struct {
	mu    sync.Mutex
	level int
	pool  sync.Pool
}

func writerMaker(level int) func() any {
	return func() any {
		w, err := zlib.NewWriterLevel(io.Discard, level)
		if err != nil {
			return zlib.NewWriter(io.Discard)
		}
		return w
	}
}

// New makes a compressor.
func New(level int) *Compressor {
	return &Compressor{level: level, pool: sync.Pool{New: writerMaker(level)}}
}

// Reload is called by the config watcher.
func (c *Compressor) Reload(level int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if level == c.level {
		return
	}
	c.level = level
	c.pool = sync.Pool{New: writerMaker(level)} // want `\(overwrite\)`
}

// Compress is called by many goroutines.
func (c *Compressor) Compress(p []byte) ([]byte, error) {
	w := c.pool.Get().(*zlib.Writer)
	defer c.pool.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	if _, err := w.Write(p); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
