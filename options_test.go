package dewpond_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    dewpond.BytePoolOptions
		want []string
		heap []string // what it says of a heap pool alone
	}{
		{"everything", dewpond.BytePoolOptions{
			Name: "orders", Classes: []int{64, 7168, 8192, 100}, MaxIdleBytes: -5,
			MaxIdlePerClass: -2, AllocRate: -2, Zero: 9, LeakAfter: -1, IdleTimeout: -2,
		}, []string{
			`pool "orders"`, "100 after 8192",
			"MaxIdleBytes -5", "NoIdle", "MaxIdlePerClass -2", "AllocRate -2", "Zero 9", "ZeroOnPut", "LeakAfter -1", "IdleTimeout -2ns", "NoDecay",
		}, []string{"classes 7168 and 8192", "remove 7168"}},
		{"LeakAfter without a timer", dewpond.BytePoolOptions{LeakAfter: time.Second, IdleTimeout: dewpond.NoDecay}, []string{"LeakAfter 1s", "IdleTimeout"}, nil},
		{"no class", dewpond.BytePoolOptions{Classes: []int{}}, []string{"no class"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := makePool(tt.o)
			if err == nil || p != nil {
				t.Fatalf("NewBytePool = %v, %v", p, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
			for _, want := range tt.heap {
				if strings.Contains(err.Error(), want) == offHeap {
					t.Errorf("the error says %q off the heap, or does not say it on it:\n%v", want, err)
				}
			}
			defer func() {
				if recover() == nil {
					t.Error("MustBytePool did not panic")
				}
			}()
			dewpond.MustBytePool(tt.o)
		})
	}
}

func TestOptionsAreCopied(t *testing.T) {
	classes := []int{64, 128}
	p := newPool(t, dewpond.BytePoolOptions{Classes: classes})
	classes[0] = 112
	b := p.Get(1)
	defer p.Put(b)
	if cap(b) != 64 {
		t.Errorf("cap %d after the caller changed its slice, want 64", cap(b))
	}
}

// Limits as large as a number can be are as good as none: nothing overflows.
func TestLargestLimits(t *testing.T) {
	budget := dewpond.MustBudget("", math.MaxInt64)
	p := newPool(t, dewpond.BytePoolOptions{Budget: budget, MaxIdleBytes: math.MaxInt64, MaxIdlePerClass: math.MaxInt, AllocRate: math.MaxInt})
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
	q := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: math.MaxInt, MaxOut: math.MaxInt})
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
