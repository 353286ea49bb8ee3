package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

// BenchmarkLease is a Lease and its Release, and its control a Get and its Put of
// the same pool.
func BenchmarkLease(b *testing.B) {
	p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	versus(b, "untouched", func(n int) {
		for range n {
			p.Lease(128).Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
	versus(b, "touched", func(n int) {
		for range n {
			l := p.Lease(128)
			l.Bytes()[0] = 1
			l.Release()
		}
	}, func(n int) {
		for range n {
			b := p.Get(128)
			b[0] = 1
			p.Put(b)
		}
	})
	versus(b, "retained", func(n int) {
		for range n {
			l := p.Lease(128)
			r := l.Retain()
			l.Release()
			r.Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
}
