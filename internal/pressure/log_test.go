package pressure

import (
	"slices"
	"testing"
)

// follow returns the levels from a number on, and the number of the next.
func follow(l *Log, number int) (levels []Level, next int) {
	for {
		level, next, ok := l.Next(number)
		if !ok {
			return levels, number
		}
		levels, number = append(levels, level), next
	}
}

func TestLog(t *testing.T) {
	var l Log
	if levels, next := follow(&l, l.Last()); levels != nil || next != 0 {
		t.Errorf("an empty log has %v", levels)
	}
	l.Add(High)
	levels, next := follow(&l, 0)
	l.Add(Medium)
	l.Add(Low)
	more, next := follow(&l, next)
	if !slices.Equal(levels, []Level{High}) || !slices.Equal(more, []Level{Medium, Low}) || next != 3 {
		t.Errorf("%v, then %v; the next is number %d", levels, more, next)
	}
	if now, _ := follow(&l, l.Last()); !slices.Equal(now, []Level{Low}) {
		t.Errorf("from the last on: %v", now)
	}
}

// A follower that is far behind gets the last levels that are kept.
func TestLogForgets(t *testing.T) {
	var l Log
	var all []Level
	for i := range 3*levelsKept + 7 {
		level := Level(i % 3)
		l.Add(level)
		all = append(all, level)
	}
	if levels, next := follow(&l, 5); !slices.Equal(levels, all[len(all)-levelsKept:]) || next != len(all) {
		t.Errorf("%d levels, and the next is number %d", len(levels), next)
	}
}
