package dewpond_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// Limits as large as a number can be are as good as none: nothing overflows.
func TestLargestLimits(t *testing.T) {
	budget := dewpond.MustBudget("", math.MaxInt64)
	p := newPool(t, dewpond.BytePoolOptions{Budget: budget, MaxIdleBytes: math.MaxInt64, MaxIdlePerClass: math.MaxInt, AllocLimit: math.MaxInt})
	b := must(p.TryGet(1 << 20))
	if used := budget.Used(); len(b) != 1<<20 || used != 1<<20 {
		t.Errorf("%d bytes are out and %d used", len(b), used)
	}
	p.Put(b)
	if idle := p.Stats().IdleBytes; idle != 1<<20 {
		t.Errorf("%d bytes are idle", idle)
	}
	if p.Trim(); budget.Used() != 0 {
		t.Errorf("%d bytes are used and nothing is there", budget.Used())
	}
	q := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: math.MaxInt, Limit: math.MaxInt})
	q.Put(must(q.TryGet()))
	if idle := q.Stats().Classes[0].Idle; idle != 1 {
		t.Errorf("%d objects are idle", idle)
	}
	bounded := newPool(t, dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20})
	if err := bounded.Prewarm(64, math.MaxInt); err == nil || !strings.Contains(err.Error(), "room for") {
		t.Errorf("Prewarm of as many blocks as can be: %v", err)
	}
	if idle := bounded.Stats().IdleBytes; idle > 1<<20 {
		t.Errorf("then %d bytes are idle", idle)
	}
}
