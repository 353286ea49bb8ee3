package degrade

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond/pressure"
)

func TestSet(t *testing.T) {
	var s State
	if len(s.Off()) != 0 || s.Off() == nil {
		t.Errorf("the zero State has off %v", s.Off())
	}
	for _, tt := range []struct {
		level   pressure.Level
		off     []string
		changes uint64
	}{
		{pressure.Low, []string{}, 0},
		{pressure.Medium, []string{Score}, 1},
		{pressure.Medium, []string{Score}, 1},
		{pressure.High, []string{Score, Candidates, Uploads}, 2},
		{pressure.Low, []string{}, 3},
	} {
		s.Set(tt.level)
		if !slices.Equal(s.Off(), tt.off) || s.Changes() != tt.changes {
			t.Errorf("%v: off are %v after %d changes, want %v after %d", tt.level, s.Off(), s.Changes(), tt.off, tt.changes)
		}
		if s.Without(Uploads) != slices.Contains(tt.off, Uploads) {
			t.Errorf("%v: Without(Uploads) is %v", tt.level, s.Without(Uploads))
		}
	}
}
