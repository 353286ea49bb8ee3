// Package bad36 spools uploads to disk.
package bad36

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"sync"
)

type spool struct {
	f   *os.File
	sum [sha256.Size]byte
}

func (s *spool) rewind() error {
	if err := s.f.Truncate(0); err != nil {
		return err
	}
	_, err := s.f.Seek(0, io.SeekStart)
	return err
}

// Receiver spools bodies and names them by their sum.
type Receiver struct {
	pool sync.Pool
}

// NewReceiver spools into dir.
func NewReceiver(dir string) *Receiver {
	return &Receiver{pool: sync.Pool{New: func() any {
		f, err := os.CreateTemp(dir, "spool-*") // want `\(unfit\)`
		if err != nil {
			return err
		}
		return &spool{f: f}
	}}}
}

// Receive spools the body, then passes it on under its name.
func (r *Receiver) Receive(body io.Reader, store func(name string, r io.Reader) error) error {
	v := r.pool.Get()
	if err, bad := v.(error); bad {
		return err
	}
	s := v.(*spool)
	defer r.pool.Put(s)
	if err := s.rewind(); err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(s.f, h), body); err != nil {
		return err
	}
	h.Sum(s.sum[:0])
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return store(hex.EncodeToString(s.sum[:]), s.f)
}
