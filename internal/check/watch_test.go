package check

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/misuse"
)

// A fakeKeeper notes what a Watch asks of it.
type fakeKeeper struct {
	w       *Watch
	did     []string
	inside  []int // what Held says in each call of Keep
	keep    func(b Block)
	kept    []Block
	trimmed []Block
}

func (k *fakeKeeper) Count(class uint8, did Deed) {
	k.did = append(k.did, fmt.Sprint([]string{"quarantined ", "trimmed "}[did], class))
}

func (k *fakeKeeper) Keep(b Block, counted bool) {
	k.did = append(k.did, fmt.Sprint("keep ", b.Class, " ", counted))
	k.inside = append(k.inside, k.w.InQuarantine(b.Class))
	k.kept = append(k.kept, b)
	if k.keep != nil {
		k.keep(b)
	}
}

func (k *fakeKeeper) Free(b Block, l *late.List) {
	k.did = append(k.did, fmt.Sprint("free ", b.Class))
	k.trimmed = append(k.trimmed, b)
	k.w.Unwatch(b, l)
}

// take returns what was asked since the last call.
func (k *fakeKeeper) take() (did []string) {
	did, k.did = k.did, nil
	return did
}

// newWatch returns a Watch of two classes whose quarantine holds so many blocks of 64
// bytes, its Keeper, and what it reports.
func newWatch(all, sealed bool, blocks int) (w *Watch, k *fakeKeeper, found *[]misuse.Kind) {
	found = new([]misuse.Kind)
	w = NewWatch(all, sealed, 2, func(v misuse.Violation) { *found = append(*found, v.Kind) })
	w.Quarantine.Bytes = 64 * blocks
	k = &fakeKeeper{w: w}
	w.Keeper = k
	return w, k, found
}

// idle returns a block that was handed out and has come back, but for Retire.
func (w *Watch) idle(class uint8) Block {
	b := make([]byte, 64)
	w.Get(at(b), b, false)
	w.Put(at(b), len(b))
	return Block{at(b), class, b}
}

func TestRetire(t *testing.T) {
	w, k, found := newWatch(true, false, 2)
	first, second, third := w.idle(1), w.idle(0), w.idle(1)
	w.Retire(first)
	w.Retire(second)
	if did := k.take(); !slices.Equal(did, []string{"quarantined 1", "quarantined 0"}) || w.InQuarantine(0) != 1 || w.InQuarantine(1) != 1 {
		t.Errorf("%q; %d and %d are in quarantine", did, w.InQuarantine(0), w.InQuarantine(1))
	}
	if !Intact(first.Bytes) {
		t.Error("an idle block is not poisoned")
	}
	w.Retire(third)
	if did := k.take(); !slices.Equal(did, []string{"quarantined 1", "keep 1 true"}) || w.InQuarantine(1) != 1 {
		t.Errorf("%q; %d are in quarantine", did, w.InQuarantine(1))
	}
	if &k.kept[0].Bytes[0] != &first.Bytes[0] || k.inside[0] != 2 {
		t.Errorf("the first left as another, or %d were in quarantine meanwhile, want 2", k.inside[0])
	}
	w.Quarantine.Bytes = 0
	w.Retire(w.idle(0))
	if did := k.take(); !slices.Equal(did, []string{"keep 0 false"}) || w.InQuarantine(0) != 1 {
		t.Errorf("without a quarantine: %q; %d are in quarantine", did, w.InQuarantine(0))
	}
	w.Flush()
	if did := k.take(); !slices.Equal(did, []string{"keep 0 true", "keep 1 true"}) || w.InQuarantine(0)+w.InQuarantine(1) != 0 {
		t.Errorf("Flush: %q; %d and %d are in quarantine", did, w.InQuarantine(0), w.InQuarantine(1))
	}
	if w.Flush(); k.take() != nil || *found != nil {
		t.Errorf("found %v", *found)
	}
}

// A Keep that panics takes nothing with it.
func TestKeepPanics(t *testing.T) {
	w, k, _ := newWatch(true, false, 0)
	k.keep = func(Block) { panic("Drop") }
	func() {
		defer func() { _ = recover() }()
		w.Retire(w.idle(0))
		t.Error("the panic is lost")
	}()
	if w.InQuarantine(0) != 0 {
		t.Error("what was kept is in quarantine")
	}
}

// Where all are watched a write is found when the block is handed out again or let go;
// where few are, when it leaves quarantine, and from then on it is watched no more.
func TestWatchEnds(t *testing.T) {
	for _, all := range []bool{true, false} {
		for _, sealed := range []bool{true, false} {
			w, k, found := newWatch(all, sealed, 10)
			if w.sampled == all || w.All() != all {
				t.Errorf("all %v: All is %v, sampled %v", all, w.All(), w.sampled)
			}
			b := w.idle(0)
			w.Retire(b)
			if Intact(b.Bytes) == sealed {
				t.Errorf("all %v, sealed %v: the block is poisoned: %v", all, sealed, Intact(b.Bytes))
			}
			b.Bytes[7]++
			if *found != nil {
				t.Errorf("all %v, sealed %v: found at once", all, sealed)
			}
			k.keep = func(Block) {
				if len(*found) > 0 {
					t.Errorf("all %v, sealed %v: reported before the pool had the block", all, sealed)
				}
			}
			w.Flush()
			if watched := w.Put(b.At, 64) != Unknown; watched != all || all && len(*found) != 1 || !all && (len(*found) != 1 || (*found)[0] != misuse.WriteAfterPut) {
				t.Errorf("all %v, sealed %v: watched %v, found %v", all, sealed, watched, *found)
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	w, k, found := newWatch(true, false, 10)
	for class := range uint8(2) {
		b := w.idle(class)
		w.Retire(b)
		b.Bytes[0]++
	}
	k.take()
	var l late.List
	blocks, bytes := w.Empty(false, &l)
	if did := k.take(); !slices.Equal(did, []string{"trimmed 0", "trimmed 1", "free 0", "free 1"}) || blocks != 2 || bytes != 128 {
		t.Errorf("%q: %d blocks of %d bytes", did, blocks, bytes)
	}
	if w.InQuarantine(0)+w.InQuarantine(1) != 0 || *found != nil {
		t.Errorf("%d and %d are in quarantine; reported too early: %v", w.InQuarantine(0), w.InQuarantine(1), *found)
	}
	if l.End(); !slices.Equal(*found, []misuse.Kind{misuse.WriteAfterPut, misuse.WriteAfterPut}) {
		t.Errorf("found %v", *found)
	}
	w.Retire(w.idle(0))
	if blocks, _ := w.Empty(true, &l); blocks != 1 {
		t.Errorf("%d blocks", blocks)
	}
	k.take()
	w.Retire(w.idle(0))
	if did := k.take(); !slices.Equal(did, []string{"keep 0 false"}) {
		t.Errorf("a quarantine that has ended: %q", did)
	}
}

func TestLeaks(t *testing.T) {
	w, _, found := newWatch(true, false, 10)
	b, now := make([]byte, 64), time.Now()
	w.Get(at(b), b, false)
	var l late.List
	if n, left := w.Leaks(1<<40, now, &l); n != 0 || left != 1 {
		t.Errorf("%d have leaked, %d not yet", n, left)
	}
	if n, left := w.Leaks(0, now, &l); n != 1 || left != 0 || *found != nil {
		t.Errorf("%d have leaked, %d not yet; reported too early: %v", n, left, *found)
	}
	if l.End(); !slices.Equal(*found, []misuse.Kind{misuse.Leak}) {
		t.Errorf("found %v", *found)
	}
}

func TestSeen(t *testing.T) {
	var s Seen
	a, b := []uintptr{1, 2}, []uintptr{3}
	for _, pair := range [][2][]uintptr{{a, b}, {b, a}, {a, nil}, {nil, a}} {
		if !s.First(pair[0], pair[1]) || s.First(slices.Clone(pair[0]), slices.Clone(pair[1])) {
			t.Errorf("%v is not once the first", pair)
		}
	}
	for i := range mostPairs {
		s.First(nil, []uintptr{uintptr(100 + i)})
	}
	if s.First([]uintptr{7}, nil) || len(s.pairs) != mostPairs {
		t.Errorf("%d pairs are remembered", len(s.pairs))
	}
}
