package dewsync

import (
	"reflect"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A kind is the objects of one type in a pool.
type kind struct {
	typ  word // nil: of any type, each in a box
	pool *dewpond.Pool[hooks.Word]
}

// A box keeps an object that cannot be kept by its data word.
type box struct{ x any }

// mostTypes is how many types of a pool have a kind of their own. The objects of all others
// are in boxes.
const mostTypes = 8

// newKind makes the kind of x, for a pool with a name that has n kinds. used says that objects of the pool were in
// use before. Checked mode watches what a
// pointer points to. It does not watch the value of an interface that holds no pointer, which may be
// one for all that are equal.
func newKind(name string, n int, x any, used bool) *kind {
	k := new(kind)
	object, watched := reflect.TypeOf(x), false
	switch {
	case !layoutIsKnown || n == mostTypes:
		object = reflect.TypeFor[box]()
		if n > 0 {
			name += " others"
		}
	default:
		k.typ, _ = split(x)
		if n > 0 {
			name += " " + object.String()
		}
		if object.Kind() == reflect.Pointer {
			object = object.Elem()
			watched = object.Size() > 0 // otherwise all are one
		}
	}
	o := dewpond.PoolOptions[hooks.Word]{Name: name, Reset: leaveAsIs}
	hooks.Describe(&o, object, watched, used)
	k.pool = dewpond.MustPool(o)
	return k
}

// leaveAsIs is the Reset of all pools: what a word points to may be read-only memory.
func leaveAsIs(*hooks.Word) {}

// engine returns what Get and Put may ask first, or nil if they must not.
func (k *kind) engine() *magazine.Engine {
	if k.typ == nil {
		return nil
	}
	return hooks.Engine(k.pool).(*magazine.Engine)
}

// find returns the kind of x, or nil if there is none.
func find(kinds []*kind, x any) *kind {
	for _, k := range kinds {
		if k.typ == nil || k.typ == typeOf(x) {
			return k
		}
	}
	return nil
}

// idle returns an idle object. ok is false if there is none.
func (k *kind) idle() (x any, ok bool) {
	at := hooks.Idle(k.pool)
	if at == nil {
		return nil, false
	}
	if k.typ == nil {
		return (*box)(word(at)).x, true
	}
	return join(k.typ, word(at)), true
}

func (k *kind) fresh(x any) { hooks.Fresh(k.pool, k.at(x)) }

func (k *kind) count(c hooks.Calls) { hooks.Count(k.pool, c) }

func (k *kind) put(x any) { k.pool.Put(k.at(x)) }

// at returns where an object begins, which is not nil, or its new box.
func (k *kind) at(x any) *hooks.Word {
	if k.typ == nil {
		return (*hooks.Word)(word(&box{x}))
	}
	_, data := split(x)
	return (*hooks.Word)(data)
}
