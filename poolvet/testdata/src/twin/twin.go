// Package twin stands in for sync.Pool where the shapes of sync.Pool run: what they get and put
// back then belongs to pools of dewpond under CheckAll. TestShapesRun compiles the shapes so,
// with nothing else changed.
//
// A dewpond.Pool sees writes to what is parked, and cannot poison it: its Reset has to leave
// an object ready for the next owner. This one's Reset leaves it spoilt, and Get mends it, so
// that reads after Put show too.
package twin

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"testdata.example/src/ran"
)

// Poison is what memory holds that was put back.
const Poison = 0xDB

// A Pool has the methods of a sync.Pool.
type Pool struct {
	New func() any
}

// Get returns an object that another owner may have put back, or nil if there is no New.
func (p *Pool) Get() any {
	if p.New == nil {
		return nil
	}
	fresh := p.New()
	return kindOf(fresh).get(fresh)
}

// Put takes v, of whatever type that has been made known.
func (p *Pool) Put(v any) { kindOf(v).put(v) }

// Blocks stands in for a sync.Pool of boxes whose boxes are of no matter, but for the blocks
// that are in them.
type Blocks struct{}

// Get returns a block in a box.
func (*Blocks) Get() any {
	b := now.blocks.Get(64)
	return &b
}

// Put takes the block out of a box.
func (*Blocks) Put(v any) {
	box := v.(*[]byte)
	now.blocks.Put(*box)
}

// A kind is a dewpond.Pool of one type.
type kind interface {
	get(fresh any) any
	put(v any)
}

type of[T any] struct {
	pool *dewpond.Pool[T]
	mend func(v, fresh *T)
}

func (k of[T]) get(fresh any) any {
	v := k.pool.Get()
	k.mend(v, fresh.(*T))
	return v
}

func (k of[T]) put(v any) { k.pool.Put(v.(*T)) }

var (
	makers = map[reflect.Type]func(tb testing.TB) kind{}

	now struct { // the test that runs
		tb     testing.TB
		blocks *dewpond.BytePool
		kinds  map[reflect.Type]kind
	}
)

func kindOf(v any) kind {
	t := reflect.TypeOf(v)
	if now.kinds[t] == nil {
		if makers[t] == nil {
			panic(fmt.Sprintf("twin.Spoil was not called for %v", t))
		}
		now.kinds[t] = makers[t](now.tb)
	}
	return now.kinds[t]
}

// Spoil makes a type known, with what becomes of an object that is put back. Get makes it anew.
func Spoil[T any](spoil func(*T)) { spoilAndMend(spoil, func(v, fresh *T) { *v = *fresh }) }

func spoilAndMend[T any](spoil func(*T), mend func(v, fresh *T)) {
	makers[reflect.TypeFor[*T]()] = func(tb testing.TB) kind {
		return of[T]{dewtest.NewPool(tb, dewpond.PoolOptions[T]{Reset: spoil}), mend}
	}
}

func init() {
	spoilAndMend(func(b *bytes.Buffer) {
		b.Reset()
		b.Grow(64)
		b.Write(bytes.Repeat([]byte{Poison}, b.Available()))
	}, func(b, _ *bytes.Buffer) {
		b.Reset()
		b.Grow(64)
	})
	Spoil(func(box *[]byte) { *box = nil })
}

// Bad is a shape that misuses a pool of the test that it runs in.
func Bad(name string, run func(tb testing.TB)) ran.Shape { return shape(name, true, run) }

// Good is one that does not.
func Good(name string, run func(tb testing.TB)) ran.Shape { return shape(name, false, run) }

func shape(name string, bad bool, run func(tb testing.TB)) ran.Shape {
	return ran.Shape{Name: name, Bad: bad, Run: func(tb testing.TB, p *dewpond.BytePool) {
		now.tb, now.blocks, now.kinds = tb, p, map[reflect.Type]kind{}
		run(tb)
	}}
}

// Same fails where memory that was put back has another content: poison.
func Same[T comparable](tb testing.TB, got, want T) {
	tb.Helper()
	if got != want {
		tb.Errorf("%v, want %v", got, want)
	}
}
