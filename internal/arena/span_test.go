package arena

import (
	"fmt"
	"testing"
)

// TestSlotEveryOffset checks slot against division: every offset of every size that
// shares a span, and the larger sizes, each alone in its span, at the offsets where it
// could go wrong.
func TestSlotEveryOffset(t *testing.T) {
	sizeStep := Multiple
	if testing.Short() || raceDetector {
		sizeStep = 37 * Multiple
	}
	for size := MinSize; size <= eightSpan; size += sizeStep {
		l := layoutOf(size)
		for slot := range l.count { // the multiples, which must be found
			if got, ok := l.slot(slot * uint32(size)); !ok || got != slot {
				t.Fatalf("size %d: slot(%d) = %d, %v; want %d", size, slot*uint32(size), got, ok, slot)
			}
		}
		next := uint32(0) // the next multiple, so that no division checks a division
		for offset := range uint32(l.granules << granuleShift) {
			want := offset == next && offset/uint32(size) < l.count
			if offset == next {
				next += uint32(size)
			}
			if _, ok := l.slot(offset); ok != want {
				t.Fatalf("size %d: slot(%d) is a block: %v, want %v", size, offset, ok, want)
			}
		}
	}
	for size := eightSpan + Multiple; size <= MaxSize; size += 1021 * Multiple {
		l := layoutOf(size)
		bytes := uint32(l.granules << granuleShift)
		for _, offset := range []uint32{0, 1, 16, uint32(size) - 1, uint32(size), uint32(size) + 1, bytes - 1} {
			if slot, ok := l.slot(offset); ok != (offset == 0) || ok && slot != 0 {
				t.Fatalf("size %d: slot(%d) = %d, %v", size, offset, slot, ok)
			}
		}
	}
}

func TestLayoutEverySize(t *testing.T) {
	for size := MinSize; size <= MaxSize; size += Multiple {
		l := layoutOf(size)
		bytes := l.granules * granule
		wrong := ""
		switch {
		case l.count < 1 || int(l.count)*size > bytes:
			wrong = "the blocks do not fit"
		case size <= eightSpan && l.count < 8:
			wrong = "fewer than eight blocks"
		case size > eightSpan && (l.count != 1 || bytes-size >= granule):
			wrong = "a large block has a span and less than a granule over"
		case size <= eightSpan && bytes >= 8*size+granule:
			wrong = "a granule too many"
		case size <= sharedSpan && l.granules != 1:
			wrong = "a small block's span is a granule"
		}
		if wrong != "" {
			t.Fatalf("size %d: %+v: %s", size, l, wrong)
		}
	}
}

// A span hands out its lowest free block, reports correctly which are untouched, and
// counts the pages that may be resident.
func TestSpanTakesAndGives(t *testing.T) {
	for _, size := range []int{64, 80, 1040, 4608, 8192, 33280, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := newSpan(layoutOf(size), 0)
			s.attach(make([]byte, s.granules*granule))
			for slot := range s.count {
				got, dirty := s.take()
				if got != slot || dirty {
					t.Fatalf("take = %d, dirty %v; want %d, fresh", got, dirty, slot)
				}
				s.wrote(got)
				end := (int(slot) + 1) * size
				if c := s.committed(); c < int64(end) || c >= int64(end+pageSize) {
					t.Fatalf("%d blocks of %d: committed %d", slot+1, size, c)
				}
				if b := s.block(slot); len(b) != size || cap(b) != size || &b[0] != &s.memory[int(slot)*size] {
					t.Fatalf("block %d: len %d, cap %d", slot, len(b), cap(b))
				}
			}
			if !s.full() {
				t.Fatal("not full")
			}
			middle := s.count / 2
			s.give(s.count - 1)
			s.give(middle)
			if got, dirty := s.take(); got != middle || !dirty {
				t.Errorf("take = %d, dirty %v; want %d, dirty", got, dirty, middle)
			}
		})
	}
}
