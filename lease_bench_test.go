package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

// BenchmarkLease is a Lease and its Release, and its control a Get and its Put of
// the same pool. part and retained have two owners.
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
	versus(b, "two sizes", func(n int) {
		for range n / 2 {
			p.Lease(128).Release()
			p.Lease(1500).Release()
		}
	}, func(n int) {
		for range n / 2 {
			p.Put(p.Get(128))
			p.Put(p.Get(1500))
		}
	})
	versus(b, "of a block", func(n int) {
		for range n {
			p.LeaseOf(p.Get(128)).Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
		}
	})
	versus(b, "part", func(n int) {
		for range n {
			l := p.Lease(128)
			part := l.Slice(64, 128)
			l.Truncate(64).Release()
			part.Release()
		}
	}, func(n int) {
		for range n {
			p.Put(p.Get(128))
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
