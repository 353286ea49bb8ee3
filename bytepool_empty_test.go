package dewpond_test

import (
	"context"
	"testing"

	"github.com/dewpond/dewpond"
)

// No bytes need no block: an empty slice is always to be had, costs nothing and counts
// nowhere.
func TestNoBytesNeedNoBlock(t *testing.T) {
	exhausted := dewpond.MustBudget("", 1)
	for name, p := range map[string]*dewpond.BytePool{
		"default":   newPool(t, dewpond.BytePoolOptions{}),
		"large":     newPool(t, dewpond.BytePoolOptions{Classes: []int{64 << 10}}),
		"no budget": newPool(t, dewpond.BytePoolOptions{Budget: exhausted}),
		"checked":   newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll}),
		"sampled":   newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckSampled, Zero: dewpond.ZeroOnGet}),
		"Source":    newPool(t, dewpond.BytePoolOptions{Memory: newFakeSource()}),
		"zero":      new(dewpond.BytePool),
	} {
		check := func(what string, b []byte, err error) {
			t.Helper()
			if err != nil || b == nil || len(b) != 0 || cap(b) != 0 {
				t.Errorf("%s: %s returned %#v with cap %d, %v", name, what, b, cap(b), err)
			}
			p.Put(b)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		check("Get", p.Get(0), nil)
		b, err := p.TryGet(0)
		check("TryGet", b, err)
		b, err = p.GetContext(done, 0)
		check("GetContext", b, err)
		s := p.Scope()
		check("Scope.Get", s.Get(0), nil)
		s.Close()
		p.Put([]byte{})
		p.Put(make([]byte, 33)[33:]) // begins anywhere
		check("Append", p.Append(p.Get(0)), nil)
		if b := p.Grow(nil, 0); b != nil {
			t.Errorf("%s: Grow(nil, 0) returned %#v", name, b)
		}
		if err := p.Prewarm(0, 10); err != nil {
			t.Errorf("%s: Prewarm(0, 10): %v", name, err)
		}

		l := p.Lease(0)
		check("Lease.Bytes", l.Bytes(), nil)
		other := l.Retain()
		if err := dewpond.Release(l); err != nil || other.Len() != 0 {
			t.Errorf("%s: Release of an empty Lease: %v", name, err)
		}
		check("the other owner's Bytes", other.Bytes(), nil)
		if err := dewpond.Release(other); err != nil {
			t.Errorf("%s: the last Release: %v", name, err)
		}

		if s := p.Stats(); s.Gets|s.Puts|s.Refused|s.DroppedForeign|s.Violations != 0 || s.IdleBytes != 0 || s.InUseBytes != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		if _, err := p.TryGet(0); err != dewpond.ErrClosed {
			t.Errorf("%s: TryGet(0) after Close: %v", name, err)
		}
		check("Get after Close", p.Get(0), nil)
	}
	if exhausted.Used() != 0 {
		t.Errorf("%d bytes are charged", exhausted.Used())
	}
}
