package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

// A block goes back once, and with it what has grown out of it, wherever that is.
func TestReplace(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	for name, tt := range map[string]struct {
		grow    func(block []byte) []byte
		adopted uint64
	}{
		"in its block":       {func(b []byte) []byte { return append(b[:0], "short"...) }, 0},
		"a later part of it": {func(b []byte) []byte { return b[16:64] }, 0},
		"at its end":         {func(b []byte) []byte { return b[:cap(b)][cap(b):] }, 0},
		"moved":              {func(b []byte) []byte { return append(b, make([]byte, 1000)...) }, 1},
		"nil":                {func(b []byte) []byte { return nil }, 0},
	} {
		for mode, o := range map[string]dewpond.BytePoolOptions{
			"plain": {}, "Budget": {Budget: dewpond.MustBudget("", 1<<20)}, "Check": {Check: dewpond.CheckAll},
		} {
			p := newPool(t, o)
			for range 3 {
				before := p.Stats()
				block := p.Get(100)
				p.Replace(block, tt.grow(block))
				if s := p.Stats().Sub(before); s.Adopted != tt.adopted || s.Puts != 1+tt.adopted || s.DroppedForeign != 0 || s.Violations != 0 {
					t.Errorf("%s, %s: %d adopted of %d put back, %d foreign, %d violations", name, mode, s.Adopted, s.Puts, s.DroppedForeign, s.Violations)
				}
				if s := p.Stats(); s.InUseBytes != 0 {
					t.Errorf("%s, %s: %d bytes in use", name, mode, s.InUseBytes)
				}
			}
		}
	}
	p := newSlices(t, dewpond.SlicePoolOptions[entry]{})
	for range 3 {
		s := p.Get(10)
		p.Replace(s, append(s, make([]entry, 90)...))
		s = p.Get(10)
		p.Replace(s, s[5:])
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Adopted != 3 || s.Puts != 9 || s.DroppedForeign != 0 {
		t.Errorf("slices: %v, %d adopted", s, s.Adopted)
	}
}
