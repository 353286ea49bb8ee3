package pressure

import (
	"math"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

func TestGoShare(t *testing.T) {
	limited := process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "1000", "max", 0, 0))
	for _, tt := range []struct {
		name          string
		tree          tree
		used, limit   int64 // of the Go runtime
		offHeap       int64
		want          float64
		wantWithGroup float64
	}{
		{name: "no limit", used: 1 << 40, limit: Unlimited, offHeap: 1 << 40},
		{name: "GOMEMLIMIT alone", used: 300, limit: 1000, want: 0.3},
		{name: "off heap counts", used: 300, limit: 1000, offHeap: 400, want: 0.7},
		{name: "the cgroup alone, less 5 %", tree: limited, used: 475, limit: Unlimited, want: 0.5},
		{name: "off heap counts against the cgroup", tree: limited, used: 300, limit: Unlimited, offHeap: 175, want: 0.5},
		{name: "GOMEMLIMIT is lower", tree: limited, used: 450, limit: 900, want: 0.5},
		{name: "95 % of the cgroup is lower", tree: limited, used: 475, limit: 960, want: 0.5},
		{name: "GOMEMLIMIT of nothing", used: 1, limit: 0, want: 1},
		{name: "past the limit", used: 1500, limit: 1000, want: 1.5},
	} {
		r := readerOf(tt.tree.fs(), func() goMemory { return goMemory{used: tt.used, limit: tt.limit} })
		if got, want := r.Read(tt.offHeap, start), (Reading{Go: tt.want}); got != want {
			t.Errorf("%s: read %+v, want %+v", tt.name, got, want)
		}
		want := tt.limit
		if tt.tree != nil {
			want = min(want, 1000)
		}
		if r.limit != want {
			t.Errorf("%s: the limit is %d, want %d", tt.name, r.limit, want)
		}
	}
}

func TestGCLimited(t *testing.T) {
	var memory goMemory
	r := readerOf(nil, func() goMemory { return memory })
	for i, step := range []struct {
		cycle uint64
		want  bool
	}{{7, false}, {7, false}, {9, true}, {9, false}, {10, true}, {0, false}} {
		memory = goMemory{limit: Unlimited, limited: step.cycle}
		if got := r.Read(0, start).GCLimited; got != step.want {
			t.Errorf("reading %d, last limited in cycle %d: %v, want %v", i, step.cycle, got, step.want)
		}
	}
}

func TestGoMetrics(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	m := newGoMetrics(nil)
	if got := m.read().limit; got != before {
		t.Errorf("the limit is %d, want %d", got, before)
	}
	const limit int64 = 123 << 30
	debug.SetMemoryLimit(limit)
	if got := m.read().limit; got != limit {
		t.Errorf("the limit is %d, want %d", got, limit)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := m.read().limit; got != Unlimited {
		t.Errorf("without a limit it is %d, want %d", got, int64(Unlimited))
	}

	for i := range m.samples {
		m.samples[i].Name = "/no/such:metric"
	}
	if got, want := m.read(), (goMemory{limit: Unlimited}); got != want {
		t.Errorf("a runtime without the metrics says %+v, want %+v", got, want)
	}
}

// A limit that the program passes replaces the runtime's.
func TestGivenLimit(t *testing.T) {
	limit := int64(1 << 40)
	r := readerOf(nil, newGoMetrics(func() int64 { return limit }).read)
	if got := r.Read(1<<39, start).Go; got < 0.5 || got > 0.51 {
		t.Errorf("half of the limit is off the heap: %v of it is used", got)
	}
	limit = 1 << 41
	if got := r.Read(1<<39, start).Go; got < 0.25 || got > 0.26 {
		t.Errorf("a quarter of the limit is off the heap: %v of it is used", got)
	}
	if got := r.Sources()[0]; got != "GOMEMLIMIT: 2199023255552 bytes" {
		t.Errorf("%q", got)
	}
}

func TestSources(t *testing.T) {
	for _, tt := range []struct {
		name string
		tree tree
		want []string
	}{
		{"nothing", nil, []string{"GOMEMLIMIT: none", "cgroup: none visible that limits this process", "PSI: none"}},
		{"version 2", process("0::/a/b\n", hostV2).with(
			groupV2("sys/fs/cgroup/a/b", "max", "419430400", 1, 0), groupV2("sys/fs/cgroup/a", "838860800", "max", 1, 0),
			psi("sys/fs/cgroup/a/b/memory.pressure", 0, 0)),
			[]string{"GOMEMLIMIT: none", "cgroup: version 2, /sys/fs/cgroup/a/b and 2 above it; hard limit: 838860800 bytes; high: 419430400 bytes",
				"PSI: /sys/fs/cgroup/a/b/memory.pressure"}},
		{"version 1", process("12:memory:/docker/4f5c\n", dockerV1).with(groupV1("sys/fs/cgroup/memory", noneV1, noneV1, 1, 0), psi("proc/pressure/memory", 0, 0)),
			[]string{"GOMEMLIMIT: none", "cgroup: version 1, /sys/fs/cgroup/memory and 0 above it; hard limit: none; high: none", "PSI: /proc/pressure/memory"}},
	} {
		if got := readerOf(tt.tree.fs(), noLimit(1)).Sources(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSystem runs on the system of the test, whichever it is.
func TestSystem(t *testing.T) {
	r := NewReader(System())
	for range 2 {
		reading := r.Read(0, time.Now())
		if reading.Use() < 0 || reading.Some < 0 || reading.Full < 0 {
			t.Errorf("read %+v", reading)
		}
		t.Logf("%v: %+v", reading.Level(), reading)
	}
	for _, line := range r.Sources() {
		t.Log(line)
	}
}
