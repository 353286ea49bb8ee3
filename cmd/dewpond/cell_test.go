package main

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
)

// What a new user has is in cells of its own: the default zeroing policy, for small and large blocks, and a
// memory limit. In the others dewpond clears nothing, as its rivals do.
func TestCells(t *testing.T) {
	limited, cleared := 0, map[int]bool{}
	for _, c := range cells() {
		s := c.spec()
		if s.Clearing {
			t.Errorf("%s: the rivals clear", c.name)
		}
		part := c.describe(bench.Document{})
		if want := map[bool]string{false: "ZeroNever", true: "ZeroOnPut"}[s.ZeroDefault]; part.Zero != want {
			t.Errorf("%s: dewpond's zeroing policy is %q, want %q", c.name, part.Zero, want)
		}
		if s.ZeroDefault {
			cleared[s.Mix[0].Size] = true
			if s.Written == 0 || s.Written > 64 {
				t.Errorf("%s: %d bytes of each block are written, which hides what it takes to clear it", c.name, s.Written)
			}
		}
		if s.MemoryLimit > 0 {
			limited++
			held := int64(s.Blocks) * int64(s.Mix[0].Size)
			if idle := s.MemoryLimit/4 + 64<<20; held <= idle || held > s.MemoryLimit*6/10 {
				t.Errorf("%s: a burst of %d bytes is within the idle bound at its limit, %d, or so near the limit that there is pressure", c.name, held, idle)
			}
		}
	}
	if limited != 1 || !cleared[8<<10] || !cleared[64<<10] {
		t.Errorf("%d cells have a memory limit, and the default clears blocks of %v", limited, cleared)
	}
}
