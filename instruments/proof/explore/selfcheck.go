//go:build dewpond_explore

package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"unsafe"
)

// selfCheck tests the search itself. It makes small random programs (loads, stores,
// swaps, branches on what was loaded, locks, plain accesses, loops that wait, and
// operations with a beginning and an end), and runs each in every possible order, first
// without any reduction and then with it. Both must find the same executions, taken as
// partial orders of their steps, and so the same results. Otherwise the reduction would
// skip something that can happen.
func selfCheck(programs int, seed uint64) error {
	var all, reduced, kinds int
	for i := range programs {
		p := randomProgram(rand.New(rand.NewPCG(seed, uint64(i))))
		const everything = 1 << 30 // preemptions
		want, n := executions(p, everything)
		got, m := executions(p, unbounded)
		all, reduced, kinds = all+n, reduced+m, kinds+len(want)
		if n == limitEach {
			continue // too long to run in every order
		}
		for e := range want {
			if !got[e] {
				return fmt.Errorf("program %d of seed %d: %d of %d kinds of executions were found, in %d instead of %d", i, seed, len(got), len(want), m, n)
			}
		}
		for e := range got {
			if !want[e] {
				return fmt.Errorf("program %d of seed %d: the reduction found an impossible execution", i, seed)
			}
		}
	}
	fmt.Printf("%d random programs: %d kinds of executions, all found in %d executions; %d without reduction\n", programs, kinds, reduced, all)
	return nil
}

const limitEach = 4_000

// executions returns the kinds of executions that a search finds, and how many it runs.
func executions(p program, bound int) (kinds map[uint64]bool, n int) {
	kinds = map[uint64]bool{}
	s := search{program: p, bound: bound}
	s.each = func(r *run) { kinds[r.kind()] = true }
	s.explore(limitEach, func(int) {})
	return kinds, s.executions
}

// kind returns a hash of the run's partial order: of what had to come before each step.
func (r *run) kind() (sum uint64) {
	for i, e := range r.trace {
		h := fnv.New64a()
		fmt.Fprint(h, e.thread, e.index, r.clocks[i])
		sum += h.Sum64()
	}
	return sum
}

// A toy is what random programs share.
type toy struct {
	r       *run
	numbers [2]int
	locked  bool
	owned   [1]byte
	history [1]byte
}

func (t *toy) at(object unsafe.Pointer, k kind) { t.r.announce(access{object: object, kind: k}) }

func randomProgram(rng *rand.Rand) program {
	threads, length := 2, 4+rng.IntN(3)
	if rng.IntN(2) == 0 {
		threads, length = 3, 2+rng.IntN(2)
	}
	code := make([][]func(t *toy, register *int) (skip bool), threads)
	for i := range code {
		for len(code[i]) < length {
			code[i] = append(code[i], randomStep(rng))
		}
	}
	return func() (*run, func()) {
		t := &toy{r: &run{}}
		var bodies []func()
		for _, steps := range code {
			bodies = append(bodies, func() {
				register := 0
				for i := 0; i < len(steps); i++ {
					if steps[i](t, &register) {
						i++
					}
				}
			})
		}
		t.r.start(bodies)
		return t.r, func() {}
	}
}

func randomStep(rng *rand.Rand) func(t *toy, register *int) (skip bool) {
	i, v := rng.IntN(2), rng.IntN(3)
	number := func(t *toy, k kind) *int {
		t.at(unsafe.Pointer(&t.numbers[i]), k)
		return &t.numbers[i]
	}
	switch rng.IntN(10) {
	case 0, 1:
		return func(t *toy, register *int) bool { *register = *number(t, read); return false }
	case 2, 3:
		return func(t *toy, _ *int) bool { *number(t, write) = v; return false }
	case 4:
		return func(t *toy, register *int) bool {
			p := number(t, write)
			if *p == *register {
				*p = v
			}
			return *p == v
		}
	case 5:
		return func(t *toy, register *int) bool { return *register == v }
	case 6: // a section under the lock
		return func(t *toy, register *int) bool {
			t.r.announce(access{object: unsafe.Pointer(&t.locked), kind: write, ready: func() bool { return !t.locked }})
			t.locked = true
			if *register == 1 {
				*number(t, write) = v
			}
			t.at(unsafe.Pointer(&t.locked), write)
			t.locked = false
			return false
		}
	case 7: // a loop that waits for another thread, twice at most
		return func(t *toy, _ *int) bool {
			t.r.starts()
			for range 2 {
				if *number(t, read) == v {
					return true
				}
				t.r.spin()
			}
			return false
		}
	case 8:
		return func(t *toy, _ *int) bool {
			t.at(unsafe.Pointer(&t.history), calls)
			*number(t, write)++
			t.at(unsafe.Pointer(&t.history), returns)
			return false
		}
	default: // a plain access: if two conflict the search ends, so they are rare
		return func(t *toy, register *int) bool {
			if *register == 2 {
				t.at(unsafe.Pointer(&t.owned), write)
			}
			return false
		}
	}
}
