package experiments

import (
	"bytes"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/tradepool"
)

// tradeFaults shows what goes wrong in the pool of stacks, each fault as a figure.
func tradeFaults(r *experiment.Run) error {
	small := 0
	reached := map[int]bool{}
	for n := 1; n <= tradepool.Largest; n++ {
		class := tradepool.ClassOf(n)
		reached[class] = true
		if tradepool.SizeOf(class) < n {
			small++
		}
	}
	r.Set("too_small_share", float64(small)/tradepool.Largest)
	r.Set("classes_in_use", float64(len(reached)))
	small, reached = 0, map[int]bool{} // rounded up, as far as the sixteenth class goes
	for n := 1; n <= tradepool.SizeOf(tradepool.Classes-1); n++ {
		class := bits.Len(uint(max(n-1, tradepool.Smallest-1) / tradepool.Smallest))
		reached[class] = true
		if tradepool.SizeOf(class) < n {
			small++
		}
	}
	r.Set("too_small_share_up", float64(small))
	r.Set("classes_in_use_up", float64(len(reached)))
	r.Set("most_reserved", float64(reserved()))
	r.Set("most_in_class", float64(overfill(max(r.Count(200), 2))))
	r.Set("most_held_apart", float64(heldApart()))
	refused, allocated := exceedLimit()
	r.Set("refused", refused)
	r.Set("allocated", allocated)
	r.Set("allocated_refusing", allocated-refused)
	r.Set("leaked", leaked(tradeDirty))
	r.Set("leaked_dewpond", leaked(oursDirty))
	r.Set("two_owners", recycle(true))
	r.Set("two_owners_fresh", recycle(false))
	return nil
}

// reserved is heldApart with a stack whose places are taken before the push: it holds what it may.
func reserved() int {
	b := make([]byte, 16)
	var s tradepool.Stack
	var places atomic.Int64
	for range tradepool.Cap - 1 {
		places.Add(1)
		s.Push(&b)
	}
	var checked, placed sync.WaitGroup
	checked.Add(512)
	for range 512 {
		placed.Go(func() {
			taken := places.Add(1) <= tradepool.Cap
			checked.Done()
			checked.Wait()
			if taken {
				s.Place(&b)
			}
		})
	}
	placed.Wait()
	return s.Len()
}

// heldApart has many goroutines push, of which none takes the second step before all have taken the
// first, and returns how many the stack holds then: what overfill meets only by chance.
func heldApart() int {
	b := make([]byte, 16)
	var s tradepool.Stack
	for range tradepool.Cap - 1 {
		s.Push(&b)
	}
	var checked, placed sync.WaitGroup
	checked.Add(512)
	for range 512 {
		placed.Go(func() {
			full := s.Full()
			checked.Done()
			checked.Wait()
			if !full {
				s.Place(&b)
			}
		})
	}
	placed.Wait()
	return s.Len()
}

// overfill has many goroutines push at once, and returns the most that the stack held.
func overfill(tries int) int {
	most := 0
	b := make([]byte, 16)
	for range tries {
		var s tradepool.Stack
		for range tradepool.Cap - 1 {
			s.Push(&b)
		}
		gate := make(chan struct{})
		var wg sync.WaitGroup
		for range 512 {
			wg.Go(func() {
				<-gate
				for range 8 {
					s.Push(&b)
				}
			})
		}
		close(gate)
		wg.Wait()
		most = max(most, s.Len())
	}
	return most
}

// exceedLimit misses more often than the limiter allows in its window.
func exceedLimit() (refused, allocated float64) {
	var p tradepool.Pool
	for range 60_000 {
		p.Get(16)
	}
	return float64(p.Refused.Load()), float64(p.Allocated.Load())
}

// leaked returns how many bytes of a secret the next owner can read.
func leaked(use func(secret []byte) []byte) float64 {
	secret := []byte("secret-token")
	if bytes.Contains(use(secret), secret) {
		return float64(len(secret))
	}
	return 0
}

// tradeDirty has an owner write a secret, shorten its slice and put it back.
func tradeDirty(secret []byte) []byte {
	var p tradepool.Pool
	b := p.Get(64)
	copy(b[32:], secret)
	p.Put(b[:16])
	return p.Get(64)
}

func oursDirty(secret []byte) []byte {
	var p dewpond.BytePool
	defer p.Close()
	b := p.Get(64)
	copy(b[32:], secret)
	p.Put(b[:16])
	return p.Get(64)
}

// recycle plays the interleaving that breaks a stack whose nodes are used again: one goroutine
// stops in the middle of its Pop, meanwhile another pops two values, a and b, and pushes a back
// with the same node. The first goroutine's compare and swap succeeds, and makes b the head, which
// is out. It returns how many values have two owners then: none where each Push takes a new node.
func recycle(again bool) float64 {
	var s tradepool.Recycling
	var mine, others tradepool.Spares
	none := func() {}
	for value := range 3 {
		s.Push(value, &others)
	}
	owners := map[int]int{}
	own := func(value int, ok bool) {
		if ok {
			owners[value]++
		}
	}
	interrupted := false
	value, ok := s.Pop(&mine, func() {
		if interrupted {
			return
		}
		interrupted = true
		a, _ := s.Pop(&others, none) // 2
		own(s.Pop(&others, none))    // 1: it stays out
		var spare tradepool.Spares
		if again {
			spare = others.First() // the node of a
		}
		s.Push(a, &spare)
	})
	own(value, ok)
	for range 3 {
		own(s.Pop(&mine, none))
	}
	twice := 0
	for _, n := range owners {
		if n > 1 {
			twice++
		}
	}
	return float64(twice)
}

func judgeTradeClasses(m experiment.Measured) experiment.Finding {
	small, used := experiment.At("faults", "too_small_share"), experiment.At("faults", "classes_in_use")
	if f, lacking := m.Lacking(small, used); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s of the sizes up to 8192 go to a class of a smaller size; %s of 16 classes can be reached", figure.Percent(m.Median(small.Case, small.Figure)), m.Text(used)),
		Control:  "dewpond rounds up in Get and takes back in Put only what has the size of a class",
		Do:       "Round up in Get and down in Put.",
	}
	if m.Median(small.Case, small.Figure) == 0 && m.Median(used.Case, used.Figure) == 16 {
		f.Verdict, f.Why = experiment.Reproduced, "each size has a class that holds it"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "it rounds down on both sides, and its largest size ends at class 9"
	return f
}

func judgeTradeCap(m experiment.Measured) experiment.Finding {
	most, apart := experiment.At("faults", "most_in_class"), experiment.At("faults", "most_held_apart")
	if f, lacking := m.Lacking(most, apart); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(most) + " buffers in one class with 512 goroutines, " + m.Text(apart) + " if all check before one pushes",
		Control:  "one goroutine after the other leaves 2048",
		Do:       "Reserve the place before you push: a check before a push bounds nothing.",
	}
	if max(m.Figure(most).Max, m.Figure(apart).Max) > tradepool.Cap {
		f.Verdict, f.Why = experiment.NotReproduced, "between the check and the push others come in"
		return f
	}
	f.Verdict, f.Why = experiment.Reproduced, "it holds no more, even if all check before one pushes"
	return f
}

func judgeTradeLimiter(m experiment.Measured) experiment.Finding {
	refused, allocated := experiment.At("faults", "refused"), experiment.At("faults", "allocated")
	if f, lacking := m.Lacking(refused, allocated); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("of 60 thousand misses at once the limiter refused %s, and %s were allocated", m.Text(refused), m.Text(allocated)),
		Control:  "dewpond's TryGet and GetContext return without a block, or wait",
		Do:       "A limit must be able to say no: take an API with an error or a wait.",
	}
	if m.Median("faults", "allocated") <= 50_000 {
		f.Verdict, f.Why = experiment.Reproduced, "what was refused was not allocated"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "after a refusal it calls make all the same"
	return f
}

func judgeTradeClean(m experiment.Measured) experiment.Finding {
	theirs, ours := experiment.At("faults", "leaked"), experiment.At("faults", "leaked_dewpond")
	if f, lacking := m.Lacking(theirs, ours); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(theirs) + " bytes of a secret were readable by the next owner",
		Control:  m.Text(ours) + " with dewpond",
		Do:       "Clear to the cap: a slice that was shortened still has its bytes.",
	}
	if m.Figure(theirs).Max == 0 {
		f.Verdict, f.Why = experiment.Reproduced, "nothing was readable"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "it clears the length and not the cap"
	return f
}

func judgeTradeRecycle(m experiment.Measured) experiment.Finding {
	twice := experiment.At("faults", "two_owners")
	if f, lacking := m.Lacking(twice); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(twice) + " values with two owners in the interleaving that is played",
		Control:  "none with a new node for each Push: the address of a node that somebody looks at is not used again",
		Do:       "Count generations in the head, or take indexes of an array; a plain compare and swap needs fresh nodes.",
	}
	if m.Figure(twice).Max == 0 {
		f.Verdict, f.Why = experiment.Reproduced, "no value has two owners"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "the head has its old address again, and the swap succeeds with a next node that is out"
	return f
}
