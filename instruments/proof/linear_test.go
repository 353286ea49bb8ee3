package proof

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"

	"github.com/dewpond/dewpond/internal/magazine"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *long {
		flag.Set("rapid.checks", "30000")
	}
	goleak.VerifyTestMain(m)
}

// A call is one operation on a bag of blocks.
type call struct {
	op    string // push, pop, popExact
	block int    // pushed
}

// An answer is what the call returned: the block popped, or none.
type answer struct {
	block int // -1: none
	exact bool
}

// bag is what an engine is to its users. A Pop returns a block that was pushed and not
// popped since, or none, which is always allowed unless the answer is exact: then the
// bag must be empty. The state is the set of blocks, one bit each.
var bag = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		in, blocks, out := input.(call), state.(uint64), output.(answer)
		switch {
		case in.op == "push":
			bit := uint64(1) << in.block
			return blocks&bit == 0, blocks | bit
		case out.block >= 0:
			bit := uint64(1) << out.block
			return blocks&bit != 0, blocks &^ bit
		}
		return !out.exact || blocks == 0, blocks
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " -> ", output) },
}

// A recorder is a history that is being recorded. Every goroutine has a list of its
// own.
type recorder struct {
	start time.Time
	lists [][]porcupine.Operation
}

func (r *recorder) record(client int, in call, do func() answer) answer {
	before := time.Since(r.start)
	out := do()
	r.lists[client] = append(r.lists[client], porcupine.Operation{
		ClientId: client, Input: in, Call: int64(before), Output: out, Return: int64(time.Since(r.start)),
	})
	return out
}

func (r *recorder) history() (all []porcupine.Operation) {
	for _, list := range r.lists {
		all = append(all, list...)
	}
	return all
}

type numbered struct {
	number int
	_      [56]byte
}

// An engine is the object of a history: magazine.Engine, or a broken one.
type engine interface {
	Push(class uint8, block unsafe.Pointer) magazine.Result
	Pop(class uint8) unsafe.Pointer
	PopExact(class uint8) (block unsafe.Pointer, exact bool)
	EnterDirect() bool
	LeaveDirect()
}

func newEngine(size int) *magazine.Engine {
	e := new(magazine.Engine)
	e.Init(magazine.Config{Sizes: []int{size}, MaxIdleBytes: 64 << 20})
	return e
}

// run has goroutines pop and push a few blocks of one engine, while it enters and leaves direct
// mode and grows. It returns their calls and answers.
func run(e engine, goroutines, each int) []porcupine.Operation {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	r := &recorder{start: time.Now(), lists: make([][]porcupine.Operation, goroutines)}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			held := []*numbered{{number: 2 * g}, {number: 2*g + 1}}
			for i := range each {
				switch {
				case len(held) > 0 && (i+g)%3 == 0:
					b := held[0]
					held = held[1:]
					r.record(g, call{"push", b.number}, func() answer {
						if kept := e.Push(0, unsafe.Pointer(b)); kept > magazine.KeptDirect {
							panic("a block was not kept")
						}
						return answer{block: -1}
					})
				default:
					op := "pop"
					if i%2 == 0 {
						op = "popExact"
					}
					r.record(g, call{op: op}, func() answer {
						var p unsafe.Pointer
						var exact bool
						if op == "pop" {
							p = e.Pop(0)
						} else {
							p, exact = e.PopExact(0)
						}
						if p == nil {
							return answer{-1, exact}
						}
						b := (*numbered)(p)
						held = append(held, b)
						return answer{block: b.number}
					})
				}
				switch {
				case g == 0 && i%16 == 3:
					e.EnterDirect()
				case g == 0 && i%16 == 14:
					e.LeaveDirect()
				case g == 1 && i%16 == 7:
					runtime.GOMAXPROCS(1 + i%4)
				}
			}
		})
	}
	wg.Wait()
	return r.history()
}

func TestHistoriesAreLinearizable(t *testing.T) {
	operations, exactly := 0, 0
	for i := range 60 {
		size := []int{64, 32 << 10, 64 << 10}[i%3]
		history := run(newEngine(size), 4, 60)
		operations += len(history)
		for _, o := range history {
			if out := o.Output.(answer); out.block < 0 && out.exact {
				exactly++
			}
		}
		if !porcupine.CheckOperations(bag, history) {
			t.Fatalf("history %d of class %d: no order of its operations explains a bag", i, size)
		}
	}
	if exactly == 0 {
		t.Error("PopExact never found the engine empty: that part was not tested")
	}
	t.Logf("%d operations, %d of them exactly none", operations, exactly)
}

// Impossible histories are rejected: the check above can fail.
func TestImpossibleHistoriesAreRejected(t *testing.T) {
	push := func(from, to int64, block int) porcupine.Operation {
		return porcupine.Operation{Input: call{"push", block}, Call: from, Output: answer{block: -1}, Return: to}
	}
	pop := func(from, to int64, a answer) porcupine.Operation {
		return porcupine.Operation{Input: call{op: "pop"}, Call: from, Output: a, Return: to}
	}
	for name, history := range map[string][]porcupine.Operation{
		"two owners":      {push(0, 1, 5), pop(2, 3, answer{block: 5}), pop(4, 5, answer{block: 5})},
		"from nowhere":    {push(0, 1, 5), pop(2, 3, answer{block: 6})},
		"before its push": {pop(0, 1, answer{block: 5}), push(2, 3, 5)},
		"missed, exactly": {push(0, 1, 5), pop(2, 3, answer{-1, true}), pop(4, 5, answer{block: 5})},
		"pushed twice":    {push(0, 1, 5), push(2, 3, 5)},
	} {
		for i := range history {
			history[i].ClientId = i
		}
		if porcupine.CheckOperations(bag, history) {
			t.Errorf("%s: accepted", name)
		}
	}
}

// An engine that breaks a promise now and then is rejected.
func TestBrokenEnginesAreRejected(t *testing.T) {
	for name, broken := range map[string]func() engine{
		"one block twice":         func() engine { return &stutterer{Engine: newEngine(64 << 10)} },
		"no look at other shards": func() engine { return careless{newEngine(64)} },
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 200 {
				if !porcupine.CheckOperations(bag, run(broken(), 4, 60)) {
					t.Logf("rejected in history %d", i)
					return
				}
			}
			t.Error("200 histories were accepted")
		})
	}
}

// A stutterer returns every twentieth block twice.
type stutterer struct {
	*magazine.Engine
	pops atomic.Int64
	last atomic.Pointer[byte]
}

func (s *stutterer) Pop(class uint8) unsafe.Pointer {
	if s.pops.Add(1)%20 == 0 {
		return unsafe.Pointer(s.last.Load())
	}
	block := s.Engine.Pop(class)
	s.last.Store((*byte)(block))
	return block
}

// A careless engine says that it is empty if a Pop finds nothing.
type careless struct{ *magazine.Engine }

func (c careless) PopExact(class uint8) (unsafe.Pointer, bool) { return c.Pop(class), true }
