package tool

import "github.com/dewpond/dewpond"

// escaped keeps objects off the stack.
var escaped []byte

// scopeCases compare opening a Scope, getting fifty pieces and closing it with fifty makes. The
// pool clears, because make does.
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
