package photo

import (
	"context"
	"errors"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// Database keeps photos in the store, which is not its own.
type Database struct {
	Store interface {
		PutPhoto(ctx context.Context, uid int64, jpeg []byte) error
		Photo(ctx context.Context, uid int64) ([]byte, error)
	}
}

// Put implements [Driver].
func (d Database) Put(ctx context.Context, uid int64, jpeg []byte) error {
	return d.Store.PutPhoto(ctx, uid, jpeg)
}

// Get implements [Driver].
func (d Database) Get(ctx context.Context, uid int64) ([]byte, error) {
	b, err := d.Store.Photo(ctx, uid)
	if errors.Is(err, store.ErrNotFound) {
		err = ErrNotFound
	}
	return b, err
}

// Close implements [Driver].
func (Database) Close() error { return nil }
