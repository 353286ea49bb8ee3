package dewpond_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// What any tool took past a Budget is the first to go when it comes back, whether somebody
// waits for such a block or not, and Stats say meanwhile how much is past it.
func TestWhatIsPastTheBudgetGoesFirst(t *testing.T) {
	const size = 8192
	tools := map[string]func(p *dewpond.BytePool) (giveBack func()){
		"Get": func(p *dewpond.BytePool) func() {
			b := p.Get(size)
			return func() { p.Put(b) }
		},
		"Append": func(p *dewpond.BytePool) func() {
			b := p.Append(nil, make([]byte, size)...)
			return func() { p.Put(b) }
		},
		"Grow": func(p *dewpond.BytePool) func() {
			b := p.Grow(nil, size)
			return func() { p.Put(b) }
		},
		"Buffer": func(p *dewpond.BytePool) func() {
			b := p.Buffer()
			b.Grow(size)
			return b.Release
		},
		"Lease": func(p *dewpond.BytePool) func() {
			l := p.Lease(size)
			return func() { l.Release() }
		},
		"Scope": func(p *dewpond.BytePool) func() {
			s := p.Scope()
			s.Get(size)
			return s.Close
		},
		"a chunk of a Scope": func(p *dewpond.BytePool) func() {
			s := p.Scope()
			s.Get(10)
			return s.Close
		},
	}
	for name, take := range tools {
		for _, waits := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, waits %v", name, waits), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					budget := dewpond.MustBudget("", 2*size)
					p := newPool(t, dewpond.BytePoolOptions{Classes: []int{size}, Budget: budget, IdleTimeout: dewpond.NoDecay})
					within := make([][]byte, 2)
					if err := p.GetBatch(t.Context(), within, size); err != nil {
						t.Fatal(err)
					}
					first, second := take(p), take(p)
					expect := func(after string, used, over, idle int64) {
						t.Helper()
						synctest.Wait()
						s := p.Stats()
						if s.BudgetUsed != used*size || s.OverBudgetBytes != over*size || s.IdleBytes != idle*size || s.BudgetLimit != 2*size || budget.Used() != s.BudgetUsed {
							t.Errorf("after %s %d bytes are used, %d past the Budget, %d idle; want %d, %d and %d blocks", after,
								s.BudgetUsed, s.OverBudgetBytes, s.IdleBytes, used, over, idle)
						}
					}
					expect("two past the Budget", 4, 2, 0)
					served := false
					if waits {
						go func() {
							b, err := p.GetContext(t.Context(), size)
							if err != nil {
								t.Error(err)
							}
							served = true
							p.Put(b)
						}()
						synctest.Wait()
					}
					first()
					expect("the first came back", 3, 1, 0)
					second()
					expect("the second came back", 2, 0, 0)
					if served {
						t.Error("a waiter got what was taken past the Budget")
					}
					if p.Stats().DroppedFull != 2 {
						t.Errorf("%d were let go", p.Stats().DroppedFull)
					}
					p.Put(within[0])
					synctest.Wait()
					if served != waits {
						t.Error("the waiter did not get what was within the Budget")
					}
					p.Put(within[1])
					expect("all came back", 2, 0, 2)
				})
			})
		}
	}
}

// A slice above the largest class is past the Budget as long as it is out.
func TestLargeSlicesPastTheBudget(t *testing.T) {
	budget := dewpond.MustBudget("", 4096)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
	b := p.Get(10_000)
	if s := p.Stats(); s.OverBudgetBytes != 10_000-4096 || s.OverBudget != 1 {
		t.Errorf("%+v", s)
	}
	p.Put(b)
	if s := p.Stats(); s.OverBudgetBytes != 0 || budget.Used() != 0 {
		t.Errorf("%+v", s)
	}
}

// A Budget has a name of its own for as long as it may have pools.
func TestBudgetNames(t *testing.T) {
	open := func(budget *dewpond.Budget) (*dewpond.BytePool, string) {
		p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
		return p, p.Stats().BudgetName
	}
	name := t.Name()
	first, second := dewpond.MustBudget(name, 1), dewpond.MustBudget(name, 1) // no pool yet
	p, a := open(first)
	q, b := open(first)
	_, c := open(second)
	if a != name || b != name || c != name+"-2" {
		t.Errorf("%q, %q and %q", a, b, c)
	}
	p.Close()
	if _, d := open(dewpond.MustBudget(name, 1)); d != name+"-3" {
		t.Errorf("the third is %q", d)
	}
	q.Close() // the last of the first Budget
	if _, e := open(dewpond.MustBudget(name, 1)); e != name {
		t.Errorf("the name of a Budget whose pools are closed is not free: %q", e)
	}
	if _, f := open(dewpond.MustBudget("", 1)); !strings.HasPrefix(f, "budget") {
		t.Errorf("without a name it is %q", f)
	}
}

// A Budget says who it is and how full it is, in words, and Stats say the same.
func TestBudgetInWords(t *testing.T) {
	named := dewpond.MustBudget("frames", 4096)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: named})
	q := newPool(t, dewpond.BytePoolOptions{Classes: []int{64}, Budget: named})
	b := p.Get(1000)
	var none *dewpond.Budget
	for _, tt := range []struct{ got, want string }{
		{named.String(), `Budget "frames": 1024 of 4096 bytes used`},
		{fmt.Sprintf("%v", dewpond.BytePoolOptions{Budget: named}.Budget), named.String()},
		{none.String(), "no Budget"},
		{panics(func() { dewpond.MustBudget("frames", 0) }), `dewpond: NewBudget("frames", 0): give a number of bytes above 0`},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
	before := q.Stats()
	if before.BudgetName != "frames" || before.BudgetUsed != 1024 || before.BudgetLimit != 4096 || before.OverBudgetBytes != 0 {
		t.Errorf("%+v", before)
	}
	big := q.Get(5000)
	if s := q.Stats().Sub(before); s.BudgetName != "frames" || s.BudgetUsed != 1024+5000 || s.BudgetLimit != 4096 || s.OverBudgetBytes != 1024+5000-4096 {
		t.Errorf("Sub takes off what a Budget has now: %+v", s)
	}
	q.Put(big)
	p.Put(b)
	without := newPool(t, dewpond.BytePoolOptions{})
	if s := without.Stats(); s.BudgetName != "" || s.BudgetLimit != 0 || s.BudgetUsed != 0 || s.OverBudgetBytes != 0 {
		t.Errorf("without a Budget: %+v", s)
	}
}
