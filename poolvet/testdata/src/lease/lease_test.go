package lease

import (
	"context"
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
)

func TestUnderCheckAll(t *testing.T) {
	type pool = *dewpond.BytePool
	ran.Run(t, []ran.Shape{
		{"late", true, func(tb testing.TB, p pool) {
			if b := late(p); b != 0 {
				tb.Errorf("%#x", b)
			}
		}},
		{"inTime", false, func(tb testing.TB, p pool) { inTime(p) }},
		{"twice", true, func(tb testing.TB, p pool) { twice(p) }},
		{"truncated", false, func(tb testing.TB, p pool) { truncated(p) }},
		{"bytesLate", true, func(tb testing.TB, p pool) { bytesLate(p) }},
		{"retained", false, func(tb testing.TB, p pool) { l := retained(p); l.Release() }},
		{"returned", true, func(tb testing.TB, p pool) { b := returned(p); b[0] = 1 }},
		{"anew", false, func(tb testing.TB, p pool) { anew(p) }},
		{"onOneWay", true, func(tb testing.TB, p pool) { onOneWay(p, true) }},
		{"onOneWay, the other", false, func(tb testing.TB, p pool) { onOneWay(p, false) }},
		{"never", true, func(tb testing.TB, p pool) { never(p) }},
		{"retainedForNobody", true, func(tb testing.TB, p pool) {
			l := p.Lease(3)
			retainedForNobody(l)
			l.Release()
		}},
		{"part", true, func(tb testing.TB, p pool) {
			l := p.Lease(3)
			part(l, false)
			l.Release()
		}},
		{"handedOn", false, func(tb testing.TB, p pool) {
			to := make(chan dewpond.Lease, 1)
			handedOn(p, to)
			l := <-to
			l.Release()
		}},
		{"captured", false, func(tb testing.TB, p pool) { captured(p) }},
		{"failed", false, func(tb testing.TB, p pool) { failed(context.Background(), p) }},
		{"sentAndReleased", true, func(tb testing.TB, p pool) {
			to := make(chan dewpond.Lease, 1)
			sentAndReleased(p, to)
			l := <-to
			l.Bytes()[0] = 1
		}},
		{"sentAnOwner", false, func(tb testing.TB, p pool) {
			to := make(chan dewpond.Lease, 1)
			sentAnOwner(p, to)
			l := <-to
			l.Bytes()[0] = 1
			l.Release()
		}},
		{"queuedAndReleased", true, func(tb testing.TB, p pool) {
			var q queue
			queuedAndReleased(p, &q)
			q.all[0].Bytes()[0] = 1
		}},
		{"returnedAndReleased", true, func(tb testing.TB, p pool) {
			l := returnedAndReleased(p)
			l.Bytes()[0] = 1
		}},
	})
}
