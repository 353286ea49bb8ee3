package arena

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

// If several goroutines return one block at once, exactly one is accepted. They go
// through many blocks in step, so that they meet at some.
func TestReturnAcceptsOne(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		a := newTest(t, c)
		var blocks [][]byte
		for range 2000 {
			blocks = append(blocks, mustAlloc(t, a, 64))
		}
		const goroutines, rounds = 2, 60
		for range rounds {
			for _, b := range blocks {
				a.Issue(b)
			}
			var accepted, ready atomic.Int64
			var wg go125.WaitGroup
			for range goroutines {
				wg.Go(func() {
					for ready.Add(1); ready.Load() < goroutines; {
						runtime.Gosched()
					}
					n := int64(0)
					for _, b := range blocks {
						owned, ok := a.Return(b)
						if !owned {
							t.Error("not owned")
						}
						if ok {
							n++
						}
					}
					accepted.Add(n)
				})
			}
			wg.Wait()
			if got := accepted.Load(); got != int64(len(blocks)) {
				t.Fatalf("of %d blocks %d were accepted", len(blocks), got)
			}
		}
		for _, b := range blocks {
			a.Free(b)
		}
		closeTest(t, a)
	})
}

// A Return synchronizes before the Issue of the same block: the race detector must find
// no race although nothing else orders the two. Without the detector this test says
// little.
func TestReturnSynchronizesBeforeIssue(t *testing.T) {
	if !raceDetector {
		t.Skip("the race detector is off")
	}
	a := newTest(t, Config{OnHeap: true})
	b := mustAlloc(t, a, 128)
	a.Issue(b)
	s, slot := a.find(b)
	done := make(chan struct{})
	go func() {
		b[0]++
		a.Return(b)
		close(done)
	}()
	// A channel would be a happens-before edge of its own, and so would a Load. So the
	// word is read in a way that the detector does not see.
	for state, whenOut := s.state(slot); peek(state) == whenOut; {
	}
	a.Issue(b)
	b[0]++
	<-done
}

// Under concurrent calls of all kinds, no block has two owners, and in the end nothing
// is missing.
func TestConcurrent(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		c.Reserve = 64 * granule
		a := newTest(t, c)
		rounds := 20_000
		if testing.Short() || raceDetector {
			rounds = 2_000
		}
		sizes := []int{64, 4608, 8192, 33280}
		var wg go125.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(g), 2))
				mark := byte(g + 1)
				var mine, stale [][]byte
				for range rounds {
					switch op := rng.IntN(20); {
					case op == 0:
						if _, err := a.Decommit(); err != nil {
							t.Error(err)
						}
					case op < 3 && len(stale) > 0:
						// It may be a block of another goroutine now; this goroutine
						// never issues it twice.
						a.Owns(stale[rng.IntN(len(stale))])
					case op < 11 && len(mine) < 40:
						b, err := a.Alloc(sizes[rng.IntN(len(sizes))])
						if err != nil {
							continue // full
						}
						if b[0] != 0 || b[len(b)-1] != 0 {
							t.Error("not zero")
						}
						a.Issue(b)
						b[0], b[len(b)-1] = mark, mark
						mine = append(mine, b)
					case len(mine) > 0:
						i := rng.IntN(len(mine))
						b := mine[i]
						mine[i] = mine[len(mine)-1]
						mine = mine[:len(mine)-1]
						if b[0] != mark || b[len(b)-1] != mark {
							t.Error("two owners")
						}
						if _, accepted := a.Return(b); !accepted {
							t.Error("not accepted")
						}
						a.Free(b)
						stale = append(stale[max(0, len(stale)-9):], b)
					}
				}
				for _, b := range mine {
					a.Return(b)
					a.Free(b)
				}
			})
		}
		wg.Wait()
		if u := a.Usage(); u.Blocks != 0 || u.Bytes != 0 {
			t.Errorf("%+v", u)
		}
		closeTest(t, a)
	})
}

// If Close runs while Decommit has spans in hand, the range must stay until Decommit is
// done.
func TestCloseDuringDecommit(t *testing.T) {
	for range 300 {
		a := newTest(t, Config{})
		for range 3 {
			b := mustAlloc(t, a, 1<<20)
			b[0] = 1
			a.Free(b)
		}
		var wg go125.WaitGroup
		wg.Go(func() {
			if _, err := a.Decommit(); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		closeTest(t, a)
	}
}
