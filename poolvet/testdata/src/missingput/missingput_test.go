package missingput

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
)

func TestUnderCheckAll(t *testing.T) {
	type pool = *dewpond.BytePool
	broken := io.MultiReader() // returns io.EOF
	ran.Run(t, []ran.Shape{
		{"early", true, func(tb testing.TB, p pool) { early(p, broken) }},
		{"mended", false, func(tb testing.TB, p pool) { mended(p, broken) }},
		{"deferred", false, func(tb testing.TB, p pool) { deferred(p, broken) }},
		{"nothingGot", false, func(tb testing.TB, p pool) {
			if err := nothingGot(context.Background(), p); err != nil {
				tb.Errorf("%v", err)
			}
		}},
		{"handedOn", false, func(tb testing.TB, p pool) {
			to := make(chan []byte, 1)
			handedOn(p, to, false)
			p.Put(<-to)
		}},
		{"selected", false, func(tb testing.TB, p pool) { selected(p, make(chan []byte)) }},
		{"queued", false, func(tb testing.TB, p pool) {
			var q queue
			queued(p, &q, false)
			p.Put(q.all[0])
		}},
		{"returned", false, func(tb testing.TB, p pool) {
			b, err := returned(p, 1)
			if !errors.Is(err, errShort) {
				tb.Errorf("%v", err)
			}
			p.Put(b)
		}},
		{"ifNotNil", false, func(tb testing.TB, p pool) { ifNotNil(p, 7) }},
		{"never", true, func(tb testing.TB, p pool) { never(p, io.Discard) }},
		{"atTheEnd", true, func(tb testing.TB, p pool) { atTheEnd(p, false) }},
		{"owned", false, func(tb testing.TB, p pool) { p.Put(owned(p).b) }},
		{"nothingGotInALoop", false, func(tb testing.TB, p pool) {
			n := 0
			nothingGotInALoop(p, func() bool { n++; return n > 2 }, n > 1)
		}},
		{"nothingGotBesideADefer", false, func(tb testing.TB, p pool) { nothingGotBesideADefer(p, false) }},
		{"writtenByAClosure", false, func(tb testing.TB, p pool) {
			to := make(chan []byte, 1)
			writtenByAClosure(p, to)
			p.Put(<-to)
		}},
		{"closedMeanwhile", true, func(tb testing.TB, p pool) {
			c := &closer{}
			c.wait = func() { c.closed = true }
			c.closedMeanwhile(p)
		}},
		{"closedMeanwhile, not closed", false, func(tb testing.TB, p pool) {
			c := &closer{wait: func() {}}
			c.closedMeanwhile(p)
		}},
		{"given", false, func(tb testing.TB, p pool) { given(p, p.Put) }},
	})
}
