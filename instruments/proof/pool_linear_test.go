package proof

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/anishathalye/porcupine"

	"github.com/dewpond/dewpond"
)

// set is a set of blocks: those that a pool has idle.
type set [8]uint64

func (s set) has(block int) bool { return s[block/64]>>(block%64)&1 == 1 }

func (s set) with(block int) set    { s[block/64] |= 1 << (block % 64); return s }
func (s set) without(block int) set { s[block/64] &^= 1 << (block % 64); return s }

// poolModel is what a BytePool of one class and no bounds is to its users: a bag, from
// which a Get may also return a new block. If TryGet is refused there was a moment with
// nothing in the bag.
var poolModel = porcupine.Model{
	Init: func() any { return set{} },
	Step: func(state, input, output any) (bool, any) {
		in, idle, out := input.(call), state.(set), output.(answer)
		switch {
		case in.op == "put":
			return !idle.has(in.block), idle.with(in.block)
		case out.block >= 0:
			return idle.has(out.block), idle.without(out.block)
		}
		return !out.exact || idle == set{}, idle
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " -> ", output) },
}

// numbers gives blocks numbers in the order in which they appear. It keeps them alive,
// so that no address is used twice.
type numbers struct {
	mu    sync.Mutex
	known map[*byte]int
}

func (n *numbers) of(b []byte) (number int, fresh bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := unsafe.SliceData(b)
	number, old := n.known[at]
	if !old {
		number = len(n.known)
		n.known[at] = number
	}
	return number, !old
}

// A tattler is an Allocator that can tell which blocks a Trim frees.
type tattler struct {
	mu    sync.Mutex
	freed map[*byte]time.Duration
	start time.Time
}

func (s *tattler) Alloc(size int) ([]byte, error) { return make([]byte, size), nil }
func (s *tattler) Owns([]byte) bool               { return true }
func (s *tattler) Free(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed[unsafe.SliceData(b)] = time.Since(s.start)
}

// runPool has goroutines use a pool in all ways, and returns their calls and answers.
func runPool(t *testing.T, size, goroutines, each int, trims bool, seed uint64) []porcupine.Operation {
	r := &recorder{start: time.Now(), lists: make([][]porcupine.Operation, goroutines)}
	source := &tattler{freed: map[*byte]time.Duration{}, start: r.start}
	o := dewpond.BytePoolOptions{Classes: []int{size}, AllocRate: 3, Zero: dewpond.ZeroNever}
	if trims {
		o.Memory = source
	}
	p := dewpond.MustBytePool(o)
	defer p.Close()
	blocks := &numbers{known: map[*byte]int{}}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			var held [][]byte
			get := func(op string, how func() ([]byte, error)) {
				r.record(g, call{op: op}, func() answer {
					b, err := how()
					if err != nil {
						return answer{-1, errors.Is(err, dewpond.ErrExhausted)}
					}
					held = append(held, b)
					number, fresh := blocks.of(b)
					if fresh {
						number = -1
					}
					return answer{block: number}
				})
			}
			for range each {
				switch what := rng.IntN(20); {
				case len(held) > 0 && (what < 9 || len(held) > 3):
					b := held[0]
					held = held[1:]
					number, _ := blocks.of(b)
					r.record(g, call{"put", number}, func() answer { p.Put(b); return answer{block: -1} })
				case what < 10:
					get("get", func() ([]byte, error) { return p.Get(1), nil })
				case what < 12:
					get("getContext", func() ([]byte, error) {
						ctx, cancel := context.WithTimeout(context.Background(), 50*time.Microsecond)
						defer cancel()
						return p.GetContext(ctx, 1)
					})
				case what == 12 && trims && g == 0:
					before := time.Since(r.start)
					p.Trim()
					source.mu.Lock()
					for at, when := range source.freed {
						number, _ := blocks.of(unsafe.Slice(at, 1))
						r.lists[g] = append(r.lists[g], porcupine.Operation{
							ClientId: g, Input: call{op: "trim"}, Call: int64(before), Output: answer{block: number}, Return: int64(max(when, before)),
						})
					}
					clear(source.freed)
					source.mu.Unlock()
				default:
					get("tryGet", func() ([]byte, error) { return p.TryGet(1) })
				}
			}
		})
	}
	wg.Wait()
	return r.history()
}

func TestPoolsAreLinearizable(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	histories, operations, refused, trimmed := 60, 0, 0, 0
	if *long {
		histories = 3000
	}
	for i := range histories {
		size := []int{64, 32 << 10, 64 << 10}[i%3]
		history := runPool(t, size, 4, 40, i%2 == 0, uint64(i))
		operations += len(history)
		for _, o := range history {
			switch in, out := o.Input.(call), o.Output.(answer); {
			case out.exact:
				refused++
			case in.op == "trim":
				trimmed++
			}
		}
		if !porcupine.CheckOperations(poolModel, history) {
			for _, o := range history {
				t.Log(o.ClientId, o.Call, o.Return, o.Input, o.Output)
			}
			t.Fatalf("history %d of class %d: no order of its operations explains a pool", i, size)
		}
	}
	if refused == 0 || trimmed == 0 {
		t.Errorf("%d refusals and %d trimmed blocks: part of it was not tested", refused, trimmed)
	}
	t.Logf("%d operations, %d of them refused, %d blocks trimmed", operations, refused, trimmed)
}
