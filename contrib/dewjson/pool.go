package dewjson

import (
	"encoding/json"
	"io"
	"sync/atomic"

	"github.com/dewpond/dewpond"
)

// A Pool encodes and decodes in blocks of a [dewpond.BytePool]. Make one with [New], once.
// All methods may be called by any number of goroutines at once.
type Pool struct {
	blocks *dewpond.BytePool
	bodies *dewpond.Pool[Body]
}

// A Body is a Buffer that holds an encoded value: its Bytes, its String, its WriteTo. It
// comes from [Pool.Marshal], and its owner gives it back with [Pool.Put]. A Body must not be
// used by several goroutines at once. An encoded value that is kept for long, or has several
// owners, belongs in the Lease that its method Lease returns, which holds little more than the
// bytes: then Put the Body, and Release the Lease when it is no longer used.
//
// Bodies are reused together with their Buffers and encoders: a [dewpond.Buffer] that is
// passed as an [io.Writer] would be allocated each time.
type Body struct {
	*dewpond.Buffer
	encoder *json.Encoder // writes to Buffer
	owned   atomic.Bool   // Marshal has returned it, and Put has not come
}

// New returns a Pool on blocks of pool. Up to 1024 idle bodies count as the pool NAME-bodies.
func New(pool *dewpond.BytePool) *Pool {
	return &Pool{
		blocks: pool,
		bodies: dewpond.MustPool(dewpond.PoolOptions[Body]{
			Name:    pool.Name() + "-bodies",
			MaxIdle: 1024,
			New: func() *Body {
				b := pool.Buffer()
				return &Body{Buffer: b, encoder: json.NewEncoder(b)}
			},
			Reset: func(b *Body) { b.Release() },
			Drop:  func(b *Body) { b.Release() },
		}),
	}
}

// Marshal encodes v as [json.Marshal] does, but returns a Body, which the caller owns:
//
//	body, err := bodies.Marshal(v)
//	if err != nil {
//		return err
//	}
//	defer bodies.Put(body)
//	_, err = w.Write(body.Bytes())
func (p *Pool) Marshal(v any) (*Body, error) {
	return p.fill(func(b *Body) error {
		if err := b.encoder.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // of the line's end
		return nil
	})
}

// fill returns a body that f has written to, and keeps it if f fails or panics.
func (p *Pool) fill(f func(b *Body) error) (*Body, error) {
	b, done := p.bodies.Get(), false
	defer func() {
		if !done {
			p.bodies.Put(b)
		}
	}()
	if err := f(b); err != nil {
		return nil, err
	}
	done = true
	b.owned.Store(true)
	return b, nil
}

// Put gives a body back. Its bytes must not be used any more. Put ignores nil. It panics if
// the body was put back before and has no other owner yet: with two Puts it would have two.
func (p *Pool) Put(b *Body) {
	if b == nil {
		return
	}
	if !b.owned.Swap(false) {
		panic("dewjson: Put of a Body that was put back before")
	}
	p.bodies.Put(b)
}

// Unmarshal reads all of r and decodes it into v, as [json.Unmarshal] does. A caller that
// does not trust r limits it with [io.LimitReader] or [net/http.MaxBytesReader].
func (p *Pool) Unmarshal(r io.Reader, v any) error {
	body, err := p.blocks.ReadAll(r)
	defer p.blocks.Put(body) // json.Unmarshal copies what v keeps
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}
