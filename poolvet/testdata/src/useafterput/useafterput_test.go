//go:build twin

package useafterput

import (
	"bytes"
	"errors"
	"testing"

	"testdata.example/src/ran"
	"testdata.example/src/twin"
	"testdata.example/src/wrap"
)

func init() { twin.Spoil(func(c *conn) { *c = conn{err: errors.New("put back")} }) }

type closer struct{ n *int }

func (c closer) Close() error { *c.n++; return nil }

// annotatedPool is what annotated may get.
type annotatedPool struct{}

func (annotatedPool) Take() *bytes.Buffer  { return wrap.Acquire() }
func (annotatedPool) Give(b *bytes.Buffer) { wrap.Release(b) }

func buffer(s string) *bytes.Buffer {
	b := wrap.Acquire()
	b.WriteString(s)
	return b
}

func block(s string) []byte {
	b := wrap.Get()
	return b[:copy(b, s)]
}

func TestUnderCheckAll(t *testing.T) {
	aBox := func() *[]byte {
		b := make([]byte, 64)
		return &b
	}
	ran.Run(t, []ran.Shape{
		twin.Bad("direct", func(tb testing.TB) { direct() }),
		twin.Bad("wrapped", func(tb testing.TB) { wrapped() }),
		twin.Bad("tooLargeIsAPut", func(tb testing.TB) { tooLargeIsAPut(wrap.Acquire()) }),
		twin.Good("guardedByAFlag", func(tb testing.TB) {
			b := wrap.Acquire()
			guardedByAFlag(b, false)
			wrap.Release(b)
		}),
		twin.Bad("annotated", func(tb testing.TB) { annotated(annotatedPool{}) }),
		twin.Bad("sameObject", func(tb testing.TB) { sameObject(wrap.Acquire()) }),
		twin.Bad("bytesOf", func(tb testing.TB) { twin.Same(tb, bytesOf(buffer("x")), 'x') }),
		twin.Bad("field", func(tb testing.TB) { field(&conn{buf: wrap.Acquire()}) }),
		twin.Good("fieldForgotten", func(tb testing.TB) { fieldForgotten(&conn{buf: wrap.Acquire()}) }),
		twin.Bad("capAfterPut", func(tb testing.TB) { twin.Same(tb, capAfterPut(aBox()), 64) }),
		twin.Good("capBefore", func(tb testing.TB) { twin.Same(tb, capBefore(aBox()), 64) }),
		twin.Bad("boxed", func(tb testing.TB) { boxed(block("x")) }),
		twin.Good("headerAlone", func(tb testing.TB) { twin.Same(tb, headerAlone(block("x")), 65) }),
		twin.Good("otherWay", func(tb testing.TB) { otherWay(block("x"), true) }),
		twin.Good("otherWay, the other", func(tb testing.TB) {
			b := block("x")
			otherWay(b, false)
			wrap.Block(b)
		}),
		twin.Bad("sameCondition", func(tb testing.TB) { sameCondition(block("x"), true) }),
		twin.Good("sameCondition, the other", func(tb testing.TB) {
			b := block("x")
			sameCondition(b, false)
			wrap.Block(b)
		}),
		twin.Good("flag", func(tb testing.TB) { flag(block("x"), 20) }),
		twin.Good("anew", func(tb testing.TB) { anew() }),
		twin.Good("pointedTo", func(tb testing.TB) {
			n := 0
			pointedTo(&conn{rw: closer{&n}})
			twin.Same(tb, n, 1)
		}),
		twin.Bad("pointedToLate", func(tb testing.TB) {
			n := 0
			pointedToLate(&conn{rw: closer{&n}})
			twin.Same(tb, n, 1)
		}),
		twin.Good("copied", func(tb testing.TB) { twin.Same(tb, copied(buffer("x")), "x") }),
		twin.Bad("notCopied", func(tb testing.TB) { twin.Same(tb, notCopied(block("x")), "x") }),
		twin.Bad("castString", func(tb testing.TB) { twin.Same(tb, castString(block("x")), "x") }),
		twin.Bad("besideAnError", func(tb testing.TB) {
			b, _ := besideAnError(block("x"), nil)
			twin.Same(tb, string(b), "x")
		}),
		twin.Good("besideAnError, an error", func(tb testing.TB) { besideAnError(block("x"), errors.New("no")) }),
		twin.Good("besideANewError", func(tb testing.TB) { besideANewError(block("x")) }),
		twin.Bad("literal", func(tb testing.TB) { literal(wrap.Acquire()) }),
		twin.Bad("builtFrom", func(tb testing.TB) { twin.Same(tb, string(builtFrom(buffer("x")).p), "x") }),
		twin.Good("builtFromACopy", func(tb testing.TB) { twin.Same(tb, string(builtFromACopy(buffer("x")).p), "x") }),
		twin.Bad("generic", func(tb testing.TB) { generic(new(box[conn]), new(conn)) }),
		twin.Good("overFunction", func(tb testing.TB) { overFunction(func(yield func(int) bool) { yield(1) }) }),
		twin.Good("upgraded", func(tb testing.TB) { upgraded(block("x"), 100) }),
		twin.Bad("upgradedOld", func(tb testing.TB) { upgradedOld(block("x"), 100) }),
	})
}
