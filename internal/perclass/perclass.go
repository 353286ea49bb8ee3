// Package perclass makes what a pool has for each of its classes when it is first asked for, so
// that a pool that nobody uses is small.
package perclass

import "sync/atomic"

// A List has a T for each class. All are made when the first is asked for. A List needs Init
// before use, and is safe for concurrent use.
type List[T any] struct {
	prepare func(class int, of *T)
	classes int
	all     atomic.Pointer[[]T]
}

// Init has the List make a T for so many classes, and call prepare, unless it is nil, for each
// before another goroutine can see it. Of several goroutines that ask first each calls it for Ts
// of its own, and the Ts of one are kept.
func (l *List[T]) Init(classes int, prepare func(class int, of *T)) {
	l.classes, l.prepare = classes, prepare
}

// At returns the T of a class. If Made has returned them before, it allocates nothing.
func (l *List[T]) At(class uint8) *T {
	all := l.all.Load()
	if all == nil {
		all = l.make()
	}
	return &(*all)[class]
}

// Made returns all Ts by class, or nil if none was asked for.
func (l *List[T]) Made() []T {
	if all := l.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (l *List[T]) make() *[]T {
	all := make([]T, l.classes)
	if l.prepare != nil {
		for class := range all {
			l.prepare(class, &all[class])
		}
	}
	l.all.CompareAndSwap(nil, &all)
	return l.all.Load()
}
