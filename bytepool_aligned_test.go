package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

// Every block begins at a multiple of 16, fresh and when it comes back, and when pages
// behind it are guarded.
func TestBlocksBeginAtMultiplesOf16(t *testing.T) {
	for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
		p := newPool(t, dewpond.BytePoolOptions{Check: check})
		for _, size := range dewpond.DefaultClasses() {
			for range 3 {
				a, b := p.Get(size), p.Get(size-1)
				if addressOf(a)%16 != 0 || addressOf(b)%16 != 0 {
					t.Errorf("blocks of %d bytes begin at %#x and %#x", size, addressOf(a), addressOf(b))
				}
				p.Put(a)
				p.Put(b)
			}
		}
		if s := p.Stats(); s.DroppedForeign != 0 || s.InUseBytes != 0 {
			t.Errorf("%d blocks were taken for strangers, %d bytes are in use", s.DroppedForeign, s.InUseBytes)
		}
	}
}
