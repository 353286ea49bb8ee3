package arena

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// A modelBlock is the model's record of a block that is not free.
type modelBlock struct {
	b   []byte
	id  uint64
	out bool
}

// stamp writes a block's id over all of it, so that an overlap shows.
func (m modelBlock) stamp() {
	for i := 0; i < len(m.b); i += 8 {
		binary.NativeEndian.PutUint64(m.b[i:], m.id)
	}
}

func (m modelBlock) intact() bool {
	for i := 0; i < len(m.b); i += 8 {
		if binary.NativeEndian.Uint64(m.b[i:]) != m.id {
			return false
		}
	}
	return true
}

// TestAgainstModel makes random calls and compares with a model: no two blocks overlap,
// each comes zeroed, its state is what the calls have made it, and every count adds up
// after each call.
func TestAgainstModel(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() || raceDetector {
		seeds = 5
	}
	onBoth(t, func(t *testing.T, c Config) {
		c.Reserve = 24 * granule // so that it is full now and then
		for seed := range seeds {
			runModel(t, c, seed)
		}
	})
}

func runModel(t *testing.T, c Config, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	a := newTest(t, c)
	sizes := []int{64, 80, 1152, 4608, 8192, 8704, 20480, 33280, 98304}
	var blocks []*modelBlock
	var gone [][]byte // free, or a block again
	var id uint64
	full, decommitted := 0, int64(0)
	for step := range 3000 {
		pick := rng.IntN(max(len(blocks), 1))
		var m *modelBlock
		if pick < len(blocks) {
			m = blocks[pick]
		}
		// Alternate between growing and shrinking, so that spans become empty.
		grow := step/400%2 == 0
		switch op := rng.IntN(100); {
		case op < 45 && grow || op < 15:
			size := sizes[rng.IntN(len(sizes))]
			b, err := a.Alloc(size)
			if err != nil {
				if !errors.Is(err, ErrFull) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				full++
				break
			}
			if i := notZero(b); i >= 0 {
				t.Fatalf("seed %d, step %d: byte %d of a block of %d is not zero", seed, step, i, size)
			}
			id++
			m := &modelBlock{b: b, id: id}
			m.stamp()
			blocks = append(blocks, m)
		case m == nil:
		case op < 55:
			if !m.out {
				a.Issue(m.b)
				m.out = true
			}
		case op < 70:
			owned, accepted := a.Return(m.b[:rng.IntN(len(m.b)+1)])
			if !owned || accepted != m.out {
				t.Fatalf("seed %d, step %d: Return = %v, %v of a block that is out: %v", seed, step, owned, accepted, m.out)
			}
			m.out = false
		case op < 95:
			if !m.intact() {
				t.Fatalf("seed %d, step %d: another owner wrote to a block of %d", seed, step, len(m.b))
			}
			refused := a.Usage().Refused
			a.Free(m.b)
			if (a.Usage().Refused > refused) != m.out {
				t.Fatalf("seed %d, step %d: Free of a block that is out: %v", seed, step, m.out)
			}
			if !m.out {
				blocks[pick] = blocks[len(blocks)-1]
				blocks = blocks[:len(blocks)-1]
				gone = append(gone, m.b)
			}
		case op < 97:
			before := a.Usage()
			n, err := a.Decommit()
			after := a.Usage()
			decommitted += n
			if err != nil || before.Committed-after.Committed != n || after.Decommitted-before.Decommitted != n {
				t.Fatalf("seed %d: Decommit = %d, %v: %+v, then %+v", seed, n, err, before, after)
			}
		case len(gone) > 0:
			// It is a stale slice; it may be a block again, and then it belongs to that
			// block's owner.
			if b := gone[rng.IntN(len(gone))]; !a.Owns(b) {
				if _, accepted := a.Return(b); accepted || returnDirectly(a, b) {
					t.Fatalf("seed %d, step %d: a free block of %d was accepted", seed, step, len(b))
				}
			}
		}
		if !raceDetector || step%20 == 0 {
			checkModel(t, a, blocks)
		}
	}
	if full == 0 || decommitted == 0 {
		t.Errorf("seed %d: full %d times, %d bytes decommitted: the test misses its aim", seed, full, decommitted)
	}
	for _, m := range blocks {
		if !m.intact() {
			t.Fatalf("seed %d: another owner wrote to a block of %d", seed, len(m.b))
		}
		a.Return(m.b)
		a.Free(m.b)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkModel compares the arena's counts with the blocks and the spans themselves.
func checkModel(t *testing.T, a *Arena, blocks []*modelBlock) {
	t.Helper()
	u := a.Usage()
	var bytes int64
	for _, m := range blocks {
		bytes += int64(len(m.b))
	}
	if u.Blocks != len(blocks) || u.Bytes != bytes {
		t.Fatalf("%+v; want %d blocks of %d bytes", u, len(blocks), bytes)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var spanned, committed int64
	held, listed, notFull := 0, 0, 0
	spans := a.allLocked()
	for _, s := range spans {
		n := 0
		for slot := range s.count {
			if !s.free(slot) {
				n++
			}
			if inRoom := s.room[slot/64]>>(slot%64)&1 == 1; inRoom != s.free(slot) {
				t.Fatalf("block %d of %d bytes: free in the span: %v, by its state: %v", slot, s.size, inRoom, s.free(slot))
			}
		}
		if n != int(s.inUse) {
			t.Fatalf("a span of %d says that it holds %d blocks, and %d are not free", s.size, s.inUse, n)
		}
		held += n
		if !s.full() {
			notFull++
		}
		spanned += int64(s.granules) << granuleShift
		committed += s.committed()
	}
	for _, l := range a.sizes {
		listed += len(l.spans)
		for i, s := range l.spans {
			if s.full() || s.size != l.layout.size || i > 0 && s.base <= l.spans[i-1].base {
				t.Fatalf("the list of %d is out of order at %d", l.layout.size, i)
			}
		}
	}
	if held != len(blocks) || len(spans) != u.Spans || listed != notFull || spanned != u.Spanned || committed != u.Committed || committed > spanned {
		t.Fatalf("%+v; the spans say: %d spans, %d listed of %d not full, %d blocks, %d bytes spanned, %d committed",
			u, len(spans), listed, notFull, held, spanned, committed)
	}
}
