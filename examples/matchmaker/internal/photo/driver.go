package photo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// ErrNotFound says that a user has no photo there.
var ErrNotFound = errors.New("the user has uploaded no photo")

// A Driver keeps photos. It has no state of its own beside what it keeps, so there is one of each
// kind, which all requests use at once: nothing about it is worth pooling.
type Driver interface {
	// Put keeps a copy of a photo.
	Put(ctx context.Context, uid int64, jpeg []byte) error
	Get(ctx context.Context, uid int64) ([]byte, error)
	Close() error
}

// Memory keeps photos in memory.
type Memory struct {
	mu     sync.RWMutex
	photos map[int64][]byte
}

// Put implements [Driver].
func (d *Memory) Put(_ context.Context, uid int64, jpeg []byte) error {
	jpeg = bytes.Clone(jpeg)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.photos == nil {
		d.photos = map[int64][]byte{}
	}
	d.photos[uid] = jpeg
	return nil
}

// Get implements [Driver].
func (d *Memory) Get(_ context.Context, uid int64) ([]byte, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if b, ok := d.photos[uid]; ok {
		return b, nil
	}
	return nil, ErrNotFound
}

// Close implements [Driver].
func (d *Memory) Close() error { return nil }

// Disk keeps photos in a temporary directory, which Close removes.
type Disk struct{ dir string }

// NewDisk makes the directory.
func NewDisk() (*Disk, error) {
	dir, err := os.MkdirTemp("", "matchmaker-photos-")
	return &Disk{dir}, err
}

func (d *Disk) path(uid int64) string {
	return filepath.Join(d.dir, strconv.FormatInt(uid, 10)+".jpg")
}

// Put implements [Driver]. A reader sees the old photo or the new one, and no part of one.
func (d *Disk) Put(_ context.Context, uid int64, jpeg []byte) error {
	f, err := os.CreateTemp(d.dir, "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(jpeg)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.path(uid))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Get implements [Driver].
func (d *Disk) Get(_ context.Context, uid int64) ([]byte, error) {
	b, err := os.ReadFile(d.path(uid))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	return b, err
}

// Close implements [Driver].
func (d *Disk) Close() error { return os.RemoveAll(d.dir) }
