//go:build dewpond_delay

package magazine

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestSeamsWait checks that each seam waits when DEWPOND_DELAY names it, in the
// operation that should pass it. No machine does so many turns in the time asked for,
// so a seam that waits never fails this test.
func TestSeamsWait(t *testing.T) {
	const turns, least = 20_000_000, 5 * time.Millisecond // 4 GHz times 3 cycles a turn: 15 ms
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func(before [seams]int) { delays = before }(delays)
	pushes := func(e *Engine) {
		for range 3*MaxRounds + 1 {
			e.Push(0, block())
		}
	}
	ways := [seams]func(e *Engine) (operation func()){
		seamRefill: func(e *Engine) func() {
			pushes(e)
			return func() {
				for e.Pop(0) != nil {
				}
			}
		},
		seamUnload:     func(e *Engine) func() { return func() { pushes(e) } },
		seamPushDirect: func(e *Engine) func() { return func() { e.Push(1, block()) } },
		seamPopDirect: func(e *Engine) func() {
			e.Push(1, block())
			return func() { e.Pop(1) }
		},
		seamReplace: func(e *Engine) func() { return func() { e.EnterDirect() } },
		seamGrow: func(e *Engine) func() {
			runtime.GOMAXPROCS(2)
			return e.grow
		},
	}
	for s, way := range ways {
		delays = [seams]int{}
		runtime.GOMAXPROCS(1)
		var e Engine
		e.Init(Config{Sizes: []int{64, 2 * MaxShardedSize}, MaxIdleBytes: 16 << 20})
		operation := way(&e)
		delays[s] = turns
		began := time.Now()
		operation()
		if took := time.Since(began); took < least {
			t.Errorf("%s: took %v, so nothing waited", seamNames[s], took)
		}
	}
}

func TestParseDelays(t *testing.T) {
	for list, want := range map[string][seams]int{
		"":                 {},
		"refill":           {seamRefill: 7},
		"grow, pop-direct": {seamGrow: 7, seamPopDirect: 7},
		"all":              {7, 7, 7, 7, 7, 7},
	} {
		if got := parseDelays(list, func() int { return 7 }); got != want {
			t.Errorf("%q delays %v, want %v", list, got, want)
		}
	}
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, `no seam "refil": give all, or any of refill,unload,`) {
			t.Errorf("a seam that is none: %q", said)
		}
	}()
	parseDelays("unload,refil", func() int { return 7 })
}
