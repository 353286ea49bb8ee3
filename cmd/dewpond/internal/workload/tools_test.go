package workload

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A toolLog records what the loops of made-up cases are asked for.
type toolLog struct {
	mu     sync.Mutex
	calls  []string // the alternative of each call
	counts map[string][]int
}

func (l *toolLog) cases(cycle int, parallel bool) func() []tool.Case {
	alternative := func(name string) tool.Alternative {
		return tool.Alternative{Name: name, Loop: func(count int) {
			l.mu.Lock()
			l.calls = append(l.calls, name)
			l.counts[name] = append(l.counts[name], count)
			l.mu.Unlock()
			work(count)
		}}
	}
	return func() []tool.Case {
		return []tool.Case{{Tool: "T", Name: "case", Cycle: cycle, Parallel: parallel,
			Alternatives: []tool.Alternative{alternative("a"), alternative("b"), alternative("c")}}}
	}
}

var worked uint64

// work takes longer for a larger count, as a loop must.
func work(count int) {
	x := uint64(count)
	for range 100 * count {
		x = x*6364136223846793005 + 1
	}
	if x == 0 {
		worked++
	}
}

func TestToolsTakeTurns(t *testing.T) {
	log := &toolLog{counts: map[string][]int{}}
	cases := log.cases(25, false)
	u := newUse(cases()[0], 2, new(kit.Heap))
	log.calls, log.counts = nil, map[string][]int{}
	for turn := range 4 {
		u.turn(turn, cases()[0])
	}
	// Each runs twice: to warm up, and then by the clock.
	want := []string{
		"a", "a", "b", "b", "c", "c",
		"b", "b", "c", "c", "a", "a",
		"c", "c", "a", "a", "b", "b",
		"a", "a", "b", "b", "c", "c",
	}
	if !slices.Equal(log.calls, want) {
		t.Errorf("the alternatives ran as %v, want %v", log.calls, want)
	}
	for name, counts := range log.counts {
		for i, n := range counts {
			if n%25 != 0 || n == 0 || n != counts[i%2] {
				t.Errorf("%s ran with counts %v, want whole cycles of 25, the same each turn", name, counts)
				break
			}
		}
	}
	for _, w := range u.ways {
		if len(w.ns) != 4 || len(w.bytes) != 4 || len(w.allocs) != 4 {
			t.Errorf("%s has %d, %d and %d values of 4 turns", w.Name, len(w.ns), len(w.bytes), len(w.allocs))
		}
	}
}

// A parallel case runs in one goroutine for each processor, at once.
func TestToolsInParallel(t *testing.T) {
	var mu sync.Mutex
	var inside, most int
	meet := sync.NewCond(&mu)
	c := tool.Case{Tool: "T", Name: "case", Parallel: true, Cycle: 1, Alternatives: []tool.Alternative{{Name: "a", Loop: func(count int) {
		mu.Lock()
		inside++
		most = max(most, inside)
		meet.Broadcast()
		for most < 3 { // it would never end if they ran one after the other
			meet.Wait()
		}
		inside--
		mu.Unlock()
		work(count)
	}}}}
	u := newUse(c, 3, new(kit.Heap))
	u.turn(0, c)
	if most != 3 {
		t.Errorf("%d goroutines at once, want 3", most)
	}
}

func TestToolsCut(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	log := &toolLog{counts: map[string][]int{}}
	if r := compareTools(ctx, log.cases(1, false), 2, 0); r != nil {
		t.Errorf("a turn that was cut counts: %+v", r)
	}
	if r := compareTools(context.Background(), log.cases(1, false), 2, 0); len(r) != 1 || len(r[0].Alternatives) != 3 {
		t.Errorf("no time at all gives %+v, want one turn", r)
	}
}

// A round's ratio is the median of the quotients of its pairs, not the quotient of the medians. An
// incomplete turn does not count.
func TestToolRatioIsOfPairs(t *testing.T) {
	ours := &way{Alternative: tool.Alternative{Name: "ours"}, ns: []float64{10, 40, 90, 1}, bytes: []float64{0, 0, 0, 9}, allocs: []float64{0, 0, 0, 9}}
	other := &way{Alternative: tool.Alternative{Name: "other"}, ns: []float64{20, 50, 60}, bytes: []float64{8, 16, 24}, allocs: []float64{1, 2, 3}}
	got := folded([]*use{{Case: tool.Case{Tool: "T", Name: "case"}, ways: []*way{ours, other}}}, 3)
	want := []result.ToolRound{{Tool: "T", Case: "case", Alternatives: []result.AlternativeRound{
		{Name: "ours", Ns: 40, Ratio: 1}, {Name: "other", Ns: 50, Bytes: 16, Allocs: 2, Ratio: 0.8},
	}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("folded is %v, want %v", got, want)
	}
}

// Every case runs in a round of dewpond's, and in no other contender's. Nothing of it counts as the
// byte pool's.
func TestMicroTools(t *testing.T) {
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	r := round(t, spec(Micro, "dewpond"))
	cases := tool.Cases()
	if len(r.Tools) != len(cases) {
		t.Fatalf("%d tool rounds, want %d", len(r.Tools), len(cases))
	}
	for i, got := range r.Tools {
		if got.Tool != cases[i].Tool || got.Case != cases[i].Name || len(got.Alternatives) != len(cases[i].Alternatives) {
			t.Errorf("tool round %d is %+v, want that of %s, %s", i, got, cases[i].Tool, cases[i].Name)
			continue
		}
		for k, a := range got.Alternatives {
			if a.Name != cases[i].Alternatives[k].Name || a.Ns <= 0 || a.Ratio <= 0 {
				t.Errorf("%s, %s: %+v", got.Tool, got.Case, a)
			}
		}
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if all := after.TotalAlloc - before.TotalAlloc; uint64(r.AllocBytes) > all/4 {
		t.Errorf("the tools' allocations count as the pool's: %d bytes of %d", r.AllocBytes, all)
	}
	for _, name := range []string{"nop", "syncpool-class"} {
		if r := round(t, spec(Micro, name)); r.Tools != nil {
			t.Errorf("%s has tools: %+v", name, r.Tools)
		}
	}
	if r := round(t, spec(Mixed, "dewpond")); r.Tools != nil {
		t.Errorf("scenario mixed has tools: %+v", r.Tools)
	}
}
