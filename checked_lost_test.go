package dewpond_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond"
)

// idleTimeouts are what decides whether a timer looks at the pool meanwhile.
var idleTimeouts = []time.Duration{-1, 0, 100 * time.Millisecond}

// A block that its owner loses is reported, also one that was out before, and on a pool
// that nothing else happens to.
func TestLostBlocksAreReported(t *testing.T) {
	onlyOnHeap(t, "Close reports what is out")
	for _, timeout := range idleTimeouts {
		for name, o := range map[string]dewpond.BytePoolOptions{
			"plain":      {},
			"Budget":     {Budget: dewpond.MustBudget("", 64<<20)},
			"AllocLimit": {AllocLimit: 1 << 20},
		} {
			for tool, lose := range map[string]func(p *dewpond.BytePool) *byte{
				"Get":    func(p *dewpond.BytePool) *byte { return &p.Get(1000)[0] },
				"Lease":  func(p *dewpond.BytePool) *byte { return &p.Lease(1000).Bytes()[0] },
				"part":   func(p *dewpond.BytePool) *byte { return losePart(p.Lease(1000)) },
				"Buffer": func(p *dewpond.BytePool) *byte { b := p.Buffer(); b.Grow(1000); return &b.AvailableBuffer()[:1][0] },
			} {
				t.Run(name+" "+tool+" "+timeout.String(), func(t *testing.T) {
					told := make(chan dewpond.Violation, 100)
					o.Check, o.IdleTimeout, o.OnViolation = dewpond.CheckAll, timeout, func(v dewpond.Violation) { told <- v }
					p := newPool(t, o)
					useBlocks(p, 300) // more than the quarantine holds
					expectLeaks(t, loseBlocks(p, lose), told)
					runtime.KeepAlive(p)
				})
			}
		}
	}
}

// losePart loses a part of a lease whose first owner has released.
func losePart(l dewpond.Lease) *byte {
	part := l.Slice(500, 600)
	l.Release()
	return &part.Bytes()[0]
}

//go:noinline
func useBlocks(p *dewpond.BytePool, n int) {
	var all [][]byte
	var leases []dewpond.Lease
	for range n {
		all, leases = append(all, p.Get(1000)), append(leases, p.Lease(1000))
	}
	for i := range all {
		p.Put(all[i])
		leases[i].Release()
	}
}

//go:noinline
func loseBlocks(p *dewpond.BytePool, lose func(p *dewpond.BytePool) *byte) (lost []weak.Pointer[byte]) {
	for range 20 {
		lost = append(lost, weak.Make(lose(p)))
	}
	return lost
}

// So is an object.
func TestLostObjectsAreReported(t *testing.T) {
	for _, timeout := range idleTimeouts {
		for name, o := range map[string]dewpond.PoolOptions[account]{
			"plain": {},
			"Limit": {Limit: 1000},
			"large": {MaxIdle: 100_000},
		} {
			t.Run(name+" "+timeout.String(), func(t *testing.T) {
				told := make(chan dewpond.Violation, 100)
				o.Check, o.IdleTimeout, o.OnViolation = dewpond.CheckAll, timeout, func(v dewpond.Violation) { told <- v }
				p := newObjects(t, o)
				useObjects(p, 300)
				expectLeaks(t, loseObjects(p), told)
				runtime.KeepAlive(p)
			})
		}
	}
}

//go:noinline
func useObjects(p *dewpond.Pool[account], n int) {
	var all []*account
	for range n {
		all = append(all, p.Get())
	}
	for _, v := range all {
		p.Put(v)
	}
}

//go:noinline
func loseObjects(p *dewpond.Pool[account]) (lost []weak.Pointer[account]) {
	for range 20 {
		v := p.Get()
		v.Name = "lost"
		lost = append(lost, weak.Make(v))
	}
	return lost
}
