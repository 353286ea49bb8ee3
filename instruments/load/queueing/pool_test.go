package queueing

import (
	"math"
	"testing"
	"time"
)

// Where all connections may be idle the pool is an M/M/c queue, in whatever order it serves.
func TestPoolIsErlangC(t *testing.T) {
	const hold = 10 * time.Millisecond
	for _, tt := range []struct {
		open int
		load float64
	}{{2, 0.5}, {5, 0.7}} {
		rate := float64(tt.open) * tt.load / hold.Seconds()
		want := Queue{Rate: rate, Service: hold, Slots: tt.open}
		for _, fifo := range []bool{false, true} {
			r := Pool{Open: tt.open, Idle: tt.open, FIFO: fifo}.Simulate(Demand{Rate: rate, Hold: Exponential(hold)}, 1_500_000, 5)
			if got := float64(r.MeanWait()) / float64(want.MeanWait()); math.Abs(got-1) > 0.02 {
				t.Errorf("%d connections at %v, FIFO %v: the mean wait is %v, Erlang C says %v", tt.open, tt.load, fifo, r.MeanWait(), want.MeanWait())
			}
			if got := r.Waiting() / want.Waiting(); math.Abs(got-1) > 0.02 {
				t.Errorf("%d connections at %v, FIFO %v: %v wait, Erlang C says %v", tt.open, tt.load, fifo, r.Waiting(), want.Waiting())
			}
			if r.Served != 1_500_000 || r.Made != 0 {
				t.Errorf("%d loans, %d connections made", r.Served, r.Made)
			}
		}
	}
}

// Each bound closes connections for its own reason, and no other does.
func TestBounds(t *testing.T) {
	load := Demand{Rate: 300, Hold: Exponential(10 * time.Millisecond), Dial: time.Millisecond}
	for _, tt := range []struct {
		name string
		pool Pool
		want [reasons]bool
	}{
		{"none", Pool{Open: 50, Idle: 50}, [reasons]bool{}},
		{"idle", Pool{Open: 50, Idle: 2}, [reasons]bool{byIdle: true}},
		{"age", Pool{Open: 50, Idle: 50, Lifetime: 5 * time.Second}, [reasons]bool{byAge: true}},
		{"idle time", Pool{Open: 50, Idle: 50, IdleTime: 5 * time.Second}, [reasons]bool{byIdleTime: true}},
	} {
		r := tt.pool.Simulate(load, 50_000, 3)
		for reason, want := range tt.want {
			if (r.closed[reason] > 0) != want {
				t.Errorf("%s: closed %v, want %v", tt.name, r.closed, tt.want)
			}
		}
		if (r.Reuse() < 1) != (r.Made > 0) || r.Seconds < 150 || r.Seconds > 180 {
			t.Errorf("%s: reuse %v, %d made, %v s", tt.name, r.Reuse(), r.Made, r.Seconds)
		}
	}
}

// What was measured on database/sql at 300 loans a second of 10 ms: reuse of 0.70, 0.93 and 0.996
// with 2, 5 and 20 idle connections.
func TestReuseByIdle(t *testing.T) {
	for idle, want := range map[int]float64{2: 0.70, 5: 0.93, 20: 0.996} {
		r := Pool{Open: 50, Idle: idle}.Simulate(Demand{Rate: 300, Hold: Exponential(10 * time.Millisecond)}, 200_000, 1)
		if math.Abs(r.Reuse()-want) > 0.05 {
			t.Errorf("%d idle: reuse %.3f, measured %v", idle, r.Reuse(), want)
		}
	}
}

// A loan that waits for longer than its patience is given up, and takes no connection.
func TestPatience(t *testing.T) {
	load := Demand{Rate: 150, Hold: Constant(10 * time.Millisecond), Patience: 25 * time.Millisecond}
	r := Pool{Open: 1, Idle: 1, FIFO: true}.Simulate(load, 20_000, 1)
	if r.TimedOut == 0 || r.Served+r.TimedOut != 20_000 {
		t.Errorf("%d loans, %d given up of 20000", r.Served, r.TimedOut)
	}
	if worst := r.Wait(1); worst > load.Patience {
		t.Errorf("a loan waited for %v with a patience of %v", worst, load.Patience)
	}
	// One connection does 100 a second, of 150 that come.
	if share := float64(r.Served) / 20_000; math.Abs(share-2.0/3) > 0.03 {
		t.Errorf("%v of the loans are granted, want two thirds", share)
	}
}

func TestSameSeedSameResult(t *testing.T) {
	load := Demand{Rate: 300, Hold: Exponential(10 * time.Millisecond)}
	p := Pool{Open: 4, Idle: 2, Lifetime: time.Second, IdleTime: time.Second}
	a, b, c := p.Simulate(load, 5000, 1), p.Simulate(load, 5000, 1), p.Simulate(load, 5000, 2)
	if a.Made != b.Made || a.MeanWait() != b.MeanWait() || a.MeanWait() == c.MeanWait() {
		t.Errorf("%v and %v by one seed, %v by another", a.MeanWait(), b.MeanWait(), c.MeanWait())
	}
}

func TestSlots(t *testing.T) {
	n := Slots(300, 10*time.Millisecond, 0.01, 97)
	at := func(open int) float64 { return ErlangC(open, 3) }
	if at(n) > 0.01 || at(n-1) <= 0.01 {
		t.Errorf("%d connections: %v wait, and %v with one less", n, at(n), at(n-1))
	}
	if n := Slots(1e6, time.Second, 0.01, 97); n != 97 {
		t.Errorf("%d, want all that there are", n)
	}
}
