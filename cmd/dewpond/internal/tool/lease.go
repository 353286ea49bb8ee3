package tool

import "github.com/dewpond/dewpond"

// leaseCases compare a Lease and its Release with a Get and its Put of the same pool: the
// difference is the price of the check.
func leaseCases() []Case {
	const size = 128
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bench-lease", Zero: dewpond.ZeroNever})
	untouched := []Alternative{
		{"Lease+Release", func(count int) {
			for range count {
				p.Lease(size).Release()
			}
		}},
		{"Get+Put", func(count int) {
			for range count {
				p.Put(p.Get(size))
			}
		}},
	}
	touched := []Alternative{
		{"Lease+Release", func(count int) {
			for range count {
				l := p.Lease(size)
				l.Bytes()[0] = 1
				l.Release()
			}
		}},
		{"Get+Put", func(count int) {
			for range count {
				b := p.Get(size)
				b[0] = 1
				p.Put(b)
			}
		}},
	}
	return []Case{
		alone("Lease", "128 B", untouched...), parallel("Lease", "128 B", untouched...),
		alone("Lease", "128 B touched", touched...), parallel("Lease", "128 B touched", touched...),
	}
}
