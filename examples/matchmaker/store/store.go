// Package store is what the service asks of a database: users, messages and photos.
package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotFound says that there is no such row.
	ErrNotFound = errors.New("there is no such row")
	// ErrNoRecipient says that a message is for nobody.
	ErrNoRecipient = errors.New("there is no such recipient")
)

// A User is a row of users.
type User struct {
	UID        int64  `json:"uid"`
	Name       string `json:"name"`
	Age        int32  `json:"age"`
	Region     string `json:"region"`
	Interests  int64  `json:"interests"` // a bit for each
	MinAge     int32  `json:"min_age"`   // of whom the user looks for
	MaxAge     int32  `json:"max_age"`
	Popularity int32  `json:"popularity"`
	Version    int64  `json:"version"` // counts the writes
}

// A Query is what the candidates of a match must be.
type Query struct {
	Region         string
	MinAge, MaxAge int32
	After          int64 // a uid
	Most           int32
}

// A Message is a row of messages.
type Message struct {
	ID    int64  `json:"id"`
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Seq   int64  `json:"seq"`
	Nonce int64  `json:"nonce,omitempty"` // not 0: stored once for each sender
	Text  string `json:"text"`
}

// A Store keeps the service's data. All methods may be called by several goroutines at once.
type Store interface {
	User(ctx context.Context, uid int64) (User, error)
	// PutUser writes all of a user but region, popularity and version, and returns the row.
	PutUser(ctx context.Context, u User) (User, error)
	// Candidates calls each for every candidate, by uid. What it gets is each's to keep.
	Candidates(ctx context.Context, q Query, each func(uid int64, name string, age int32, interests int64)) error
	// Popular returns the most popular users of a region.
	Popular(ctx context.Context, region string, most int32) ([]int64, error)
	// PutMessage stores a message, and returns its id. A second message of one sender and nonce
	// is not stored: its id is the first one's.
	PutMessage(ctx context.Context, m Message) (id int64, err error)
	// Messages returns the last messages between two users, the newest first.
	Messages(ctx context.Context, uid, with int64, most int32) ([]Message, error)
	PutPhoto(ctx context.Context, uid int64, jpeg []byte) error
	Photo(ctx context.Context, uid int64) ([]byte, error)
	// Ping asks for nothing but an answer.
	Ping(ctx context.Context) error
	// PoolStats says what the pool of connections has done.
	PoolStats() PoolStats
	Close()
}

// Times are what a request has spent in the store.
type Times struct {
	Wait, Query time.Duration // for a connection; with it
}

type timesKey struct{}

// WithTimes has the store add to t what is done with the context. One goroutine at a time may
// use that context.
func WithTimes(ctx context.Context, t *Times) context.Context {
	return context.WithValue(ctx, timesKey{}, t)
}

func timesOf(ctx context.Context) *Times {
	if t, ok := ctx.Value(timesKey{}).(*Times); ok {
		return t
	}
	return new(Times)
}
