package check

import (
	"math"
	"runtime"
	"testing"

	"github.com/dewpond/dewpond/internal/late"
)

// marksLeft returns how many blocks are marked, of all Checkers.
func marksLeft() (n int) {
	for i := range marked {
		n += int(marked[i].Load())
	}
	return n
}

// noMarks waits until no Checker of another test has any.
func noMarks() {
	for marksLeft() > 0 {
		runtime.GC()
		runtime.Gosched()
	}
}

// has reports whether a block is watched, which [Watched] may say because of one of another test.
func (w *Watch) has(b Block) bool {
	s := w.shard(b.At)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[b.At] != nil
}

func count(h *Histogram) (n uint64) {
	counts, _ := h.Load()
	for _, c := range counts {
		n += c
	}
	return n
}

// What its Put gives to the pool is marked until a caller gets it or the pool lets it go, and counts once. What leaves
// quarantine is not.
func TestMarks(t *testing.T) {
	noMarks()
	w, k, _ := newWatch(false, false, 1)
	retired := uint64(0)
	retire := func(class uint8) Block {
		b := w.idle(class)
		w.Retire(b)
		retired++
		return b
	}
	first := retire(0)
	for range 8 * oneInPasses { // none passes a quarantine that has room
		w.Flush()
		first = retire(0)
	}
	second := retire(1)
	if marksLeft() != 0 || len(k.kept) != 1+8*oneInPasses || w.has(first) || !w.has(second) {
		t.Fatalf("%d are marked, %d kept", marksLeft(), len(k.kept))
	}
	last := second
	for marksLeft() == 0 { // from then on some do
		last = retire(0)
	}
	if Unmarked(last.At) != 0 || w.has(last) || k.kept[len(k.kept)-1].At != last.At {
		t.Error("another is marked")
	}
	w.Unmark(first.At) // is not
	w.Unmark(last.At)
	w.Unmark(last.At)
	if n := count(&w.Sample.Idle); n != 1 || marksLeft() != 0 || Unmarked(last.At) != math.MaxUint32 {
		t.Errorf("%d were idle, %d are marked", n, marksLeft())
	}
	w.Flush()
	if w.Quarantine.Crowded() {
		t.Error("an empty quarantine is crowded")
	}
	w.Quarantine.Bytes = 0
	third := retire(0)
	var l late.List
	w.Unwatch(third, &l) // as a pool that lets it go
	l.End()
	if n := count(&w.Sample.Idle); n != 2 || marksLeft() != 0 {
		t.Errorf("%d were idle, %d are marked", n, marksLeft())
	}
	if n := count(&w.Sample.Out); n != retired || w.Sample.Watched.Load() != retired {
		t.Errorf("%d were out, %d watched", n, w.Sample.Watched.Load())
	}
}

// There are so many marks at most, of which none makes room for another, and none is left of a Checker that has ended
// or is lost.
func TestMarksEnd(t *testing.T) {
	noMarks()
	for _, end := range []func(w *Watch){func(w *Watch) { w.End() }, func(*Watch) {}} {
		w, _, _ := newWatch(false, false, 0)
		first := w.idle(0)
		w.Retire(first)
		for range mostMarks + 10 {
			w.Retire(w.idle(0))
		}
		if n := count(&w.Sample.Idle); n != 0 || marksLeft() != mostMarks {
			t.Errorf("%d count, %d are marked", n, marksLeft())
		}
		w.Unmark(first.At)
		w.Retire(w.idle(0))
		if n := count(&w.Sample.Idle); n != 1 || marksLeft() != mostMarks {
			t.Errorf("%d count once one has left, %d are marked", n, marksLeft())
		}
		end(w)
		w = nil
		noMarks()
	}
	w, _, _ := newWatch(false, false, 0)
	w.End()
	w.Retire(Block{At: 64, Bytes: make([]byte, 64)})
	if marksLeft() != 0 {
		t.Error("a Checker that has ended marks")
	}
}

// Where all are watched, none is marked, and they are idle from Put to Get, or until they are let go.
func TestIdleWhereAllAreWatched(t *testing.T) {
	noMarks()
	w, _, _ := newWatch(true, false, 0)
	b := w.idle(0)
	w.Retire(b)
	w.Get(b.At, b.Bytes, false)
	w.Put(b.At, len(b.Bytes))
	w.Poison(b.At, b.Bytes)
	var l late.List
	w.Unwatch(b, &l)
	l.End()
	if out, idle := count(&w.Sample.Out), count(&w.Sample.Idle); out != 2 || idle != 2 || marksLeft() != 0 {
		t.Errorf("out %d, idle %d, %d are marked", out, idle, marksLeft())
	}
	w.Adopt(b.At, b.Bytes)
	if out := count(&w.Sample.Out); out != 2 {
		t.Error("what is adopted was out")
	}
}
