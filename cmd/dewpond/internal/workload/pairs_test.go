package workload

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Without Pairs nothing is timed together. With it mixed times a Get and its Put where it times
// either, burst each block of its second bursts, and beyond each block of all but its first.
func TestPairs(t *testing.T) {
	for _, s := range []Scenario{Mixed, Burst, Beyond} {
		sp := spec(s, "channel")
		sp.Sample, sp.Bursts = max(sp.Sample, 1), 3
		sp.Blocks = min(sp.Blocks, 64)
		if r := round(t, sp); r.Histograms["pair"] != nil || r.Figures["operation_ns"] != 0 {
			t.Errorf("%s times pairs that nobody asks for", s.Name)
		}
		sp.Pairs = true
		r := round(t, sp)
		n := samples(t, r, "pair")
		var want int64
		switch s.Name {
		case "mixed":
			want = samples(t, r, "get")
			if r.Figures["operation_ns"] <= 0 || runtime.GOOS == "linux" && r.Figures["operation_cpu_ns"] <= 0 {
				t.Errorf("an operation takes %v", r.Figures)
			}
		case "burst":
			want = int64(r.Ops)
		case "beyond":
			want = int64(r.Ops) * 2 / 3
			if got, ok := r.Figures["collections"]; !ok || got != float64(r.GCCycles) {
				t.Errorf("%v collections, want the %d of the window", got, r.GCCycles)
			}
		}
		if n != want || n == 0 {
			t.Errorf("%s: %d pairs timed in %d operations, want %d", s.Name, n, r.Ops, want)
		}
	}
}

// A pair in a burst is the Get and the Put of one block: all that a slow pool takes for both.
func TestPairsOfABurst(t *testing.T) {
	p := slow{each: 2 * time.Millisecond}
	sp := spec(Burst, "make")
	sp.Pairs, sp.Blocks = true, 3
	j := NewJob(context.Background(), sp, func(contender.Options) contender.Pool { return p })
	b := &burster{Job: j, view: p, size: page, written: page, held: make([]contender.Block, sp.Blocks)}
	b.timePairs()
	took := b.hold()
	began := kit.Now()
	if err := b.giveBack(); err != nil {
		t.Fatal(err)
	}
	took += kit.Now() - began
	r, err := j.finish()
	if err != nil {
		t.Fatal(err)
	}
	h, err := hdrhistogram.Decode(r.Histograms["pair"])
	if err != nil {
		t.Fatal(err)
	}
	least := 2 * p.each * 99 / 100 // a value may lie 1 % lower
	if n := h.TotalCount(); n != 3 || time.Duration(h.Min()) < least || time.Duration(h.Max()) > took-2*least {
		t.Errorf("%d pairs of %v to %v, want 3, each at least %v, and of %v together", n, time.Duration(h.Min()), time.Duration(h.Max()), least, took)
	}
}

// A slow pool makes and forgets blocks, and takes a while for either.
type slow struct{ each time.Duration }

func (p slow) View() contender.View { return p }

func (p slow) Get(n int) contender.Block {
	time.Sleep(p.each)
	return contender.Block{Bytes: make([]byte, n)}
}

func (p slow) Put(contender.Block) { time.Sleep(p.each) }
func (p slow) Loop(int, int)       {}
