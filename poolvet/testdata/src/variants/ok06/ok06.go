// Package ok06 sends a block to several mirrors.
package ok06

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

const blockSize = 64 << 10

type block [blockSize]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

// Mirror stores blocks and does not keep p.
type Mirror interface {
	Name() string
	Store(off int64, p []byte) error
}

// CopyBlock reads one block at off and stores it everywhere.
func CopyBlock(src io.ReaderAt, off int64, mirrors []Mirror) (int, error) {
	blk := blocks.Get().(*block)
	defer blocks.Put(blk)
	n, err := src.ReadAt(blk[:], off)
	if err != nil && err != io.EOF {
		return 0, err
	}

	errs := make([]error, len(mirrors))
	var wg sync.WaitGroup
	for i, m := range mirrors {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if e := m.Store(off, blk[:n]); e != nil {
				errs[i] = fmt.Errorf("%s: %w", m.Name(), e)
			}
		}()
	}
	wg.Wait()
	return n, errors.Join(errs...)
}
