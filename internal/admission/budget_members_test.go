package admission

import (
	"runtime"
	"testing"

	"github.com/dewpond/dewpond/internal/magazine"
)

// A pool joins and leaves its Budget at the same cost however many others there are.
func TestMembersCostTheSame(t *testing.T) {
	b := newBudget(1 << 30)
	accounts := make([]*account, 8000)
	gates := make([]*Gate, len(accounts))
	for i := range accounts {
		accounts[i], gates[i] = newAccount(b, nil, false), new(Gate)
		gates[i].account, gates[i].engine = accounts[i], new(magazine.Engine)
	}
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	each := func(what string, f func(i int)) {
		var costs []uint64
		for _, n := range []int{1000, len(accounts)} { // the first thousand, and all
			from := 0
			if n > 1000 {
				from = 1000
			}
			costs = append(costs, allocated(func() {
				for i := from; i < n; i++ {
					f(i)
				}
			})/uint64(n-from))
		}
		if costs[1] > 4*costs[0]+200 {
			t.Errorf("to %s allocates %d bytes for each of the first thousand, and %d later", what, costs[0], costs[1])
		}
		t.Logf("to %s allocates %d bytes for each of the first thousand, and %d later", what, costs[0], costs[1])
	}
	each("join", func(i int) { accounts[i].join(gates[i]) })
	if n := b.MemberCount(); n != len(accounts) || b.Forsaken() {
		t.Errorf("%d members, forsaken %v", n, b.Forsaken())
	}
	each("leave", func(i int) { accounts[len(accounts)-1-i].leave() })
	if n := b.MemberCount(); n != 0 || !b.Forsaken() {
		t.Errorf("%d members, forsaken %v", n, b.Forsaken())
	}
	for range b.members.all() {
		t.Error("a gate of no member")
	}
	runtime.KeepAlive(gates)
}
