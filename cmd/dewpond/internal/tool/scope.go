package tool

import "github.com/dewpond/dewpond"

// escaped is where what would otherwise stay on the stack goes.
var escaped []byte

// scopeCases are a Scope that is opened, asked for fifty pieces and closed, and
// fifty makes. The pool clears, for make does too.
func scopeCases() []Case {
	const pieces, size = 50, 128
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bench-scope"})
	return []Case{{Tool: "Scope", Name: "50 pieces of 128 B", Cycle: 1, Alternatives: []Alternative{
		{"dewpond.Scope", func(count int) {
			for range count {
				s := p.Scope()
				for range pieces {
					s.Get(size)[0] = 1
				}
				s.Close()
			}
		}},
		{"make", func(count int) {
			for range count {
				for range pieces {
					escaped = make([]byte, size)
					escaped[0] = 1
				}
			}
		}},
	}}}
}
