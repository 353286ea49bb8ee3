package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

var sink []byte // what is stored here escapes

// BenchmarkScope is a piece of 128 B of a Scope of fifty, which is opened and closed
// around them, and its control a make of as much.
func BenchmarkScope(b *testing.B) {
	const pieces = 50
	p := newPool(b, dewpond.BytePoolOptions{})
	compareRounds(b, func(n int) {
		for range n / pieces {
			s := p.Scope()
			for range pieces {
				s.Get(128)[0] = 1
			}
			s.Close()
		}
	}, func(n int) {
		for range n / pieces {
			for range pieces {
				sink = make([]byte, 128)
				sink[0] = 1
			}
		}
	})
}
