package region

import (
	"errors"
	"strconv"
	"testing"
	"time"
)

// at is a replica's position that is linked, in a history.
func at(history string, offset int64) position { return position{history, offset, true} }

// round is one probe: the primary stands at offset, and the replica where its position says.
func (l *ledger) round(offset int64, replica position) {
	l.begin()
	l.stands(position{history: "a", offset: offset})
	l.follows(0, replica, nil, true)
	l.forget(time.Now())
}

// A replica is not read before the first probe; and not for a key that was written until it has
// reached the offset that a later probe finds the primary at.
func TestLedger(t *testing.T) {
	l := newLedger(1)
	expect := func(what string, key string, want reason) {
		t.Helper()
		if got := l.may(0, key); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	expect("before the first probe", "x", outOfUse)
	l.round(100, at("a", 90))
	expect("it is behind", "x", outOfUse)
	l.round(100, at("a", 100))
	expect("it has caught up", "x", hasAll)
	l.wrote("x")
	expect("a write after that probe", "x", lacksKey)
	expect("another key", "y", hasAll)
	l.round(150, at("a", 149))
	expect("it has not reached the probe's offset", "x", lacksKey)
	if lag, read, ok := l.lag(0); lag != 1 || !read || !ok {
		t.Errorf("it lags %d, is read %v, known %v", lag, read, ok)
	}
	l.round(300, at("a", 150))
	expect("it has reached the offset of an earlier probe", "x", hasAll)
	if len(l.written) != 0 {
		t.Errorf("%d writes are remembered that the replica has", len(l.written))
	}
}

// A write that was acknowledged while a probe was under way may be behind its offset.
func TestLedgerDuringAProbe(t *testing.T) {
	l := newLedger(1)
	l.begin()
	l.wrote("x")
	l.stands(position{history: "a", offset: 100})
	l.follows(0, at("a", 100), nil, true)
	if got := l.may(0, "x"); got != lacksKey {
		t.Errorf("%d: that probe does not know of the write", got)
	}
	l.round(100, at("a", 100)) // no byte more, and yet it is known now
	if got := l.may(0, "x"); got != hasAll {
		t.Errorf("%d: the next probe does", got)
	}
}

// A replica that is gone, cut off, of another history or begins anew is not read until it has
// caught up with what was written until then; and nothing is remembered for it meanwhile.
func TestLedgerOutOfUse(t *testing.T) {
	for _, tt := range []struct {
		name   string
		p      position
		err    error
		silent bool // the primary
		want   reason
	}{
		{"gone", position{}, errors.New("no answer"), false, outOfUse},
		{"gone, and the primary too", position{}, errors.New("no answer"), true, outOfUse},
		{"cut off", position{"a", 110, false}, nil, false, outOfUse},
		{"without its primary", position{"a", 110, false}, nil, true, hasAll}, // nobody can write
		{"of another history", at("b", 110), nil, false, outOfUse},
		{"begins anew", at("a", 40), nil, false, outOfUse},
		{"begins anew, and has all again", at("a", 109), nil, false, outOfUse},
		{"as it was", at("a", 110), nil, false, hasAll},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLedger(1)
			l.round(100, at("a", 100))
			l.round(110, at("a", 110))
			if got := l.may(0, "x"); got != hasAll {
				t.Fatalf("%d before", got)
			}
			l.begin()
			if !tt.silent {
				l.stands(position{history: "a", offset: 120})
			}
			l.follows(0, tt.p, tt.err, !tt.silent)
			if got := l.may(0, "x"); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
			l.wrote("x")
			l.round(130, at("a", 130))
			if got := l.may(0, "x"); got != hasAll {
				t.Errorf("%d when it has caught up", got)
			}
		})
	}
}

// A primary that begins anew has other offsets.
func TestLedgerNewHistory(t *testing.T) {
	for _, p := range []position{{history: "b", offset: 500}, {history: "a", offset: 5}} {
		l := newLedger(1)
		l.round(100, at("a", 100))
		l.begin()
		l.stands(p)
		l.follows(0, at("a", 100), nil, true)
		if p.history == "b" {
			if got := l.may(0, "x"); got != outOfUse {
				t.Errorf("%+v: %d for a replica of the old history", p, got)
			}
		}
		l.wrote("x")
		l.begin()
		l.stands(p)
		l.follows(0, at(p.history, p.offset), nil, true)
		if got := l.may(0, "x"); got != hasAll {
			t.Errorf("%+v: %d when it has caught up", p, got)
		}
	}
}

// What a ledger remembers is bounded, however far behind a replica is, and however long.
func TestLedgerIsBounded(t *testing.T) {
	l := newLedger(1)
	l.round(1, at("a", 1))
	for i := range 1000 {
		l.wrote("x" + strconv.Itoa(i))
		l.round(int64(i+2), at("a", 1))
	}
	if len(l.marks) > mostMarks {
		t.Errorf("%d marks", len(l.marks))
	}
	if got := l.may(0, "x0"); got != lacksKey {
		t.Errorf("%d", got)
	}
	for i := range mostWrites {
		l.wrote(strconv.Itoa(i))
	}
	l.round(5000, at("a", 1))
	if got := l.may(0, "y"); got != outOfUse || len(l.written) > 0 {
		t.Errorf("%d, and %d writes are remembered", got, len(l.written))
	}
	l.round(5000, at("a", 5000))
	if got := l.may(0, "x0"); got != hasAll {
		t.Errorf("%d when it has caught up", got)
	}
	for range 100 { // one that is down
		l.wrote("z")
		l.begin()
		l.stands(position{history: "a", offset: 6000})
		l.follows(0, position{}, ErrDown, true)
		l.forget(time.Now())
	}
	if len(l.written) > 1 {
		t.Errorf("%d writes are remembered for a replica that is down", len(l.written))
	}
}

// A slow replica gets by on fewer marks.
func TestLedgerHalvesMarks(t *testing.T) {
	l := newLedger(1)
	l.round(0, at("a", 0))
	l.wrote("x")
	for i := range 3 * mostMarks {
		l.round(int64(i+1), at("a", 0))
	}
	l.round(1000, at("a", 3*mostMarks))
	if got := l.may(0, "x"); got != hasAll {
		t.Errorf("%d", got)
	}
}

func TestLedgerDoubts(t *testing.T) {
	l := newLedger(0)
	l.failed("x", time.Hour)
	l.failed("y", time.Hour)
	l.forget(time.Now())
	if !l.doubtful("x") || l.doubtful("z") {
		t.Error("a write that failed is forgotten, or one that was not made is known")
	}
	l.wrote("x")
	if l.doubtful("x") {
		t.Error("a write that came after it does not count")
	}
	l.forget(time.Now().Add(2 * time.Hour))
	if len(l.written) > 0 {
		t.Errorf("%d writes are remembered of which nothing is left", len(l.written))
	}
}
