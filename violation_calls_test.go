package dewpond_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// A function given to OnViolation is called for the violations of every pool, after the
// pool's own OnViolation, until it is stopped.
func TestOnViolation(t *testing.T) {
	var heard []string
	hear := func(who string) func(dewpond.Violation) {
		return func(v dewpond.Violation) {
			if v.Pool == "heard" || v.Pool == "heard-2" {
				heard = append(heard, who+" "+v.Kind.String())
			}
		}
	}
	stopFirst := dewpond.OnViolation(hear("first"))
	stopSecond := dewpond.OnViolation(hear("second"))
	defer stopSecond()
	p := newPool(t, dewpond.BytePoolOptions{Name: "heard", Check: dewpond.CheckAll, OnViolation: hear("own")})
	q := newObjects(t, dewpond.PoolOptions[account]{Name: "heard", Check: dewpond.CheckAll})
	b, v := p.Get(100), q.Get()
	p.Put(b)
	p.Put(b)
	stopFirst()
	stopFirst()
	q.Put(v)
	q.Put(v)
	if want := []string{"own double Put", "first double Put", "second double Put", "second double Put"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if text := panics(func() { dewpond.OnViolation(nil) }); text == "" {
		t.Error("OnViolation(nil) passes")
	}
}

// What is out is reported once, and may come back all the same.
func TestReportLeaks(t *testing.T) {
	notWatched(t, "it looks at what a pool without checks reports")
	leaks := 0
	count := func(v dewpond.Violation) {
		if leaks++; v.Kind != dewpond.Leak || v.Got == nil || v.Put != nil || v.Offence != nil {
			t.Error(v)
		}
	}
	expectLeaks := func(p dewpond.StatsSource, want int) {
		t.Helper()
		leaks = 0
		if n := dewtest.ReportLeaks(p); n != want || leaks != want {
			t.Errorf("%d, of which %d were reported; want %d", n, leaks, want)
		}
	}
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: count})
	q := newObjects(t, dewpond.PoolOptions[account]{Check: dewpond.CheckAll, OnViolation: count})
	a, b, v, w := p.Get(100), p.Get(100_000), q.Get(), q.Get()
	p.Put(p.Get(100))
	q.Put(w)
	expectLeaks(p, 2)
	expectLeaks(p, 0)
	expectLeaks(q, 1)
	p.Put(a)
	p.Put(b)
	q.Put(v)
	v = q.Get()
	expectLeaks(q, 1)
	q.Put(v)
	if s := q.Stats(); s.Violations != 2 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
	if s := p.Stats(); s.Violations != 2 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
	unwatched := newPool(t, dewpond.BytePoolOptions{})
	b = unwatched.Get(10)
	expectLeaks(unwatched, 0)
	unwatched.Put(b)
	runtime.KeepAlive(a)
}
