package pressure

import (
	"math"
	"testing"
	"time"
)

// A stallStep is a reading of the totals, in microseconds, some time after the start,
// and the shares of time that it yields.
type stallStep struct {
	at         time.Duration
	some, full int
	wantSome   float64
	wantFull   float64
}

func TestStalls(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name  string
		steps []stallStep
	}{
		{"the first totals are of all time", []stallStep{{0, 900e6, 800e6, 0, 0}}},
		{"no stall", []stallStep{{0, 5e6, 1e6, 0, 0}, {2 * s, 5e6, 1e6, 0, 0}}},
		{"100 ms in 2 s", []stallStep{{0, 5e6, 1e6, 0, 0}, {2 * s, 5.1e6, 1e6, 0.05, 0}}},
		{"more of both", []stallStep{{0, 5e6, 1e6, 0, 0}, {2 * s, 5.4e6, 1.2e6, 0.2, 0.1}, {4 * s, 5.4e6, 1.2e6, 0, 0}}},
		{"since the last reading, not since the first", []stallStep{
			{0, 0, 0, 0, 0}, {10 * s, 0, 0, 0, 0}, {11 * s, 0.2e6, 0.1e6, 0.2, 0.1}}},
		{"the last window stands until there is a new one", []stallStep{
			{0, 0, 0, 0, 0}, {s, 0.5e6, 0, 0.5, 0}, {s + 100*time.Millisecond, 0.6e6, 0, 0.5, 0},
			{s + 499*time.Millisecond, 0.6e6, 0, 0.5, 0}, {s + 500*time.Millisecond, 0.6e6, 0, 0.2, 0}}},
		{"one slow fault is no pressure", []stallStep{{0, 0, 0, 0, 0}, {10 * time.Millisecond, 5e3, 5e3, 0, 0}, {s, 5e3, 5e3, 0.005, 0.005}}},
		{"totals that fall are of another group", []stallStep{{0, 5e6, 1e6, 0, 0}, {s, 4e6, 1e6, 0, 0}, {2 * s, 4.1e6, 1e6, 0.1, 0}}},
		{"the same for full", []stallStep{{0, 5e6, 1e6, 0, 0}, {s, 5e6, 0, 0, 0}, {2 * s, 5e6, 0.1e6, 0, 0.1}}},
		{"the clock is set back", []stallStep{
			{0, 0, 0, 0, 0}, {s, 0.5e6, 0, 0.5, 0}, {-3600 * s, 0.6e6, 0, 0.5, 0}, {-3599 * s, 0.7e6, 0, 0.1, 0}}},
		{"the clock is set forward", []stallStep{{0, 0, 0, 0, 0}, {3600 * s, 0.9e6, 0, 0.00025, 0}, {3601 * s, 1e6, 0, 0.1, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := tree{}.fs()
			set := func(some, full int) {
				for name, file := range psi("proc/pressure/memory", some, full).fs() {
					m[name] = file
				}
			}
			set(tt.steps[0].some, tt.steps[0].full)
			r := readerOf(m, noLimit(1))
			for i, step := range tt.steps {
				set(step.some, step.full)
				got := r.Read(0, start.Add(step.at))
				if math.Abs(got.Some-step.wantSome) > 1e-9 || math.Abs(got.Full-step.wantFull) > 1e-9 {
					t.Fatalf("step %d: some %v, full %v; want %v, %v", i, got.Some, got.Full, step.wantSome, step.wantFull)
				}
			}
		})
	}
}

// Exactly 5 % is no pressure, one microsecond more is.
func TestStallBoundary(t *testing.T) {
	for _, tt := range []struct {
		some, full int
		want       Level
	}{{100_000, 0, Low}, {100_001, 0, Medium}, {100_000, 100_000, Low}, {100_001, 100_000, Medium}, {100_001, 100_001, High}} {
		m := psi("proc/pressure/memory", 0, 0).fs()
		r := readerOf(m, noLimit(1))
		r.Read(0, start)
		m["proc/pressure/memory"] = psi("proc/pressure/memory", tt.some, tt.full).fs()["proc/pressure/memory"]
		if got := r.Read(0, start.Add(2*time.Second)).Level(); got != tt.want {
			t.Errorf("some %d, full %d us in 2 s: %v, want %v", tt.some, tt.full, got, tt.want)
		}
	}
}

// The cgroup's own file is preferred, and on a hybrid system it is version 2's.
func TestStallSource(t *testing.T) {
	const own = "sys/fs/cgroup/unified/a/memory.pressure"
	both := process("12:memory:/a\n0::/a\n", hybrid).with(psi("proc/pressure/memory", 0, 0), psi(own, 0, 0))
	for _, tt := range []struct {
		name string
		root denied
		want string
	}{
		{"both", denied{FS: both.fs()}, own},
		{"no file", denied{FS: process("12:memory:/a\n0::/a\n", hybrid).with(psi("proc/pressure/memory", 0, 0)).fs()}, "proc/pressure/memory"},
		{"no permission", denied{FS: both.fs(), open: map[string]bool{own: true}}, "proc/pressure/memory"},
		{"switched off", denied{FS: both.fs(), read: map[string]bool{own: true}}, "proc/pressure/memory"},
		{"garbage", denied{FS: both.with(tree{own: "some avg10=0.00\n"}).fs()}, "proc/pressure/memory"},
		{"full alone", denied{FS: both.with(tree{own: "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"}).fs()}, "proc/pressure/memory"},
		{"no PSI", denied{FS: both.fs(), read: map[string]bool{own: true, "proc/pressure/memory": true}}, ""},
		{"no cgroup", denied{FS: psi("proc/pressure/memory", 0, 0).fs()}, "proc/pressure/memory"},
	} {
		if got := readerOf(tt.root, noLimit(1)).pressure; got != tt.want {
			t.Errorf("%s: PSI from %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A file that cannot be read once yields nothing for that reading, and nothing for the
// time before it.
func TestStallsAfterAFailure(t *testing.T) {
	const name = "proc/pressure/memory"
	m := psi(name, 0, 0).fs()
	r := readerOf(m, noLimit(1))
	for i, step := range []struct {
		content string
		want    float64
	}{
		{psi(name, 0, 0)[name], 0}, {psi(name, 500_000, 0)[name], 0.5}, {"garbage", 0}, {psi(name, 1_900_000, 0)[name], 0}, {psi(name, 2_000_000, 0)[name], 0.1},
	} {
		m[name].Data = []byte(step.content)
		if got := r.Read(0, start.Add(time.Duration(i)*time.Second)).Some; math.Abs(got-step.want) > 1e-9 {
			t.Errorf("reading %d: %v, want %v", i, got, step.want)
		}
	}
}
