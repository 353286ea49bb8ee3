//go:build twin

package doubleput

import (
	"testing"

	"testdata.example/src/ran"
	"testdata.example/src/twin"
	"testdata.example/src/wrap"
)

func init() { twin.Spoil(func(l *line) { l.text = []byte("put back") }) }

func TestUnderCheckAll(t *testing.T) {
	ran.Run(t, []ran.Shape{
		twin.Bad("twice", func(tb testing.TB) { twice(wrap.Acquire()) }),
		twin.Bad("deferredToo", func(tb testing.TB) { deferredToo(wrap.Acquire(), true) }),
		twin.Good("deferredToo, the other", func(tb testing.TB) { deferredToo(wrap.Acquire(), false) }),
		twin.Bad("deferredLater", func(tb testing.TB) { deferredLater(wrap.Acquire()) }),
		twin.Bad("loop", func(tb testing.TB) { loop(wrap.Acquire()) }),
		twin.Good("eachAnew", func(tb testing.TB) { eachAnew() }),
		twin.Bad("calleeAndCaller", func(tb testing.TB) { calleeAndCaller(wrap.Acquire()) }),
		twin.Good("serve", func(tb testing.TB) { serve(wrap.Acquire()) }),
		twin.Bad("throughClose", func(tb testing.TB) { throughClose(&wrap.Body{Buf: wrap.Acquire()}) }),
		twin.Good("throughFree", func(tb testing.TB) { throughFree(&wrap.Body{Buf: wrap.Acquire()}) }),
		twin.Bad("closedTwice", func(tb testing.TB) { closedTwice(&wrap.Body{Buf: wrap.Acquire()}) }),
		twin.Bad("captured", func(tb testing.TB) { captured(true) }),
		twin.Good("captured, the other", func(tb testing.TB) { captured(false) }),
		twin.Good("capturedForgotten", func(tb testing.TB) { capturedForgotten(true) }),
		twin.Good("capturedForgotten, the other", func(tb testing.TB) { capturedForgotten(false) }),
		twin.Good("unlessDone", func(tb testing.TB) { unlessDone() }),
		twin.Good("branches", func(tb testing.TB) {
			for n := range 3 {
				branches(wrap.Acquire(), n)
			}
		}),
		twin.Good("list", func(tb testing.TB) { list(&node{wrap.Acquire(), &node{wrap.Acquire(), nil}}) }),
		twin.Bad("freedTwice", func(tb testing.TB) { freedTwice() }),
		twin.Good("boxAndBlock", func(tb testing.TB) {
			b := wrap.Get()
			boxAndBlock(&b)
		}),
	})
}
