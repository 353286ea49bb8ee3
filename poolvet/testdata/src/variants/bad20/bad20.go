// Package bad20 sends a block to several mirrors.
package bad20

import (
	"fmt"
	"io"
	"sync"
)

const blockSize = 64 << 10

type block [blockSize]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

// Mirror stores blocks.
type Mirror interface {
	Name() string
	Store(off int64, p []byte) error
}

// Replicator copies a source to all mirrors.
type Replicator struct {
	mirrors []Mirror
}

// CopyBlock reads one block at off and stores it everywhere.
func (r *Replicator) CopyBlock(src io.ReaderAt, off int64) (n int, err error) {
	blk := blocks.Get().(*block)
	defer blocks.Put(blk)
	n, err = src.ReadAt(blk[:], off)
	if err != nil && err != io.EOF {
		return 0, err
	}

	errs := make(chan error, len(r.mirrors))
	for _, m := range r.mirrors {
		go func() {
			if e := m.Store(off, blk[:n]); e != nil {
				errs <- fmt.Errorf("%s: %w", m.Name(), e)
				return
			}
			errs <- nil
		}()
	}
	for range r.mirrors {
		if e := <-errs; e != nil {
			return n, e
		}
	}
	return n, nil // want `\(returnput\)`
}
