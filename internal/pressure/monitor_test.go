package pressure

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// counted counts readings and returns the given answer.
type counted struct {
	readings int
	memory   goMemory
}

func (c *counted) read() goMemory {
	c.readings++
	return c.memory
}

func TestMonitorReadsWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a bubble would also wait for goroutines that Level leaves behind
		c := &counted{memory: goMemory{used: 50, limit: 100}}
		m := &Monitor{reader: readerOf(nil, c.read)}
		check := func(offHeap int64, level Level, readings int) {
			t.Helper()
			if got := m.Level(offHeap); got != level || c.readings != readings {
				t.Fatalf("%v after %d readings, want %v after %d", got, c.readings, level, readings)
			}
		}
		time.Sleep(time.Hour)
		if c.readings != 0 {
			t.Fatalf("%d readings before a call of Level", c.readings)
		}
		check(0, Low, 1)
		check(49, Low, 1) // too soon for another reading
		time.Sleep(readEvery - time.Millisecond)
		check(49, Low, 1)
		time.Sleep(time.Millisecond)
		check(49, High, 2)
		check(0, High, 2)
		time.Sleep(time.Second)
		check(0, High, 3)
		time.Sleep(time.Second)
		check(0, High, 4)
		time.Sleep(8 * time.Second)
		check(0, Medium, 5)
		time.Sleep(9 * time.Second)
		check(0, Medium, 6)
		time.Sleep(time.Second)
		check(0, Low, 7)
	})
}

// A program whose heap alone makes the level High has no file read, nor anything allocated, for it.
func TestMonitorReadsNoFilesAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := &opens{FS: process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "1000", "max", 10, 0)).fs()}
		c := &counted{memory: goMemory{used: 50, limit: 100}}
		m := &Monitor{reader: readerOf(opened, c.read)}
		check := func(level Level, reads bool) {
			t.Helper()
			before := opened.n
			if got := m.Level(0); got != level || opened.n > before != reads {
				t.Errorf("%v with %d files read, want %v", got, opened.n-before, level)
			}
			time.Sleep(readEvery)
		}
		check(Low, true)
		c.memory.used = 95
		check(High, false)
		if n := testing.AllocsPerRun(10, func() { m.Level(0); m.read = time.Time{} }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		c.memory.used = 50
		check(High, true) // it lasts for a while
	})
}

// opens counts the files that are opened.
type opens struct {
	fs.FS
	n int
}

func (o *opens) Open(name string) (fs.File, error) {
	o.n++
	return o.FS.Open(name)
}

// Whatever a program does to memory, and whenever Level is called: each level that
// differs from the one before is reported once, in order, and before Level returns it.
func TestMonitorTellsEachLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counted{memory: goMemory{limit: 100}}
		var told []Level
		m := &Monitor{reader: readerOf(nil, c.read)}
		m.Changed = func(l Level) {
			told = append(told, l)
			if got := m.Level(0); got == l {
				t.Errorf("Level returns %v before it is told", got)
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		want, before := []Level(nil), Low
		for range 20_000 {
			if rng.IntN(40) == 0 {
				c.memory.used = rng.Int64N(110)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(time.Second))))
			if level := m.Level(0); level != before {
				want, before = append(want, level), level
			}
		}
		if !slices.Equal(told, want) || len(want) < 100 {
			t.Errorf("%d levels were told, %d were shown", len(told), len(want))
		}
	})
}

// Level never waits: while one goroutine reads, others get the previous answer.
func TestMonitorDoesNotWait(t *testing.T) {
	var m *Monitor
	var within Level
	c := &counted{memory: goMemory{used: 95, limit: 100}}
	m = &Monitor{reader: readerOf(nil, func() goMemory {
		within = m.Level(0) // would wait forever
		return c.read()
	})}
	if got := m.Level(0); got != High || within != Low || c.readings != 1 {
		t.Fatalf("%v, within %v, after %d readings; want high, low, 1", got, within, c.readings)
	}
}

func TestMonitorConcurrently(t *testing.T) {
	var m Monitor
	var wg go125.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if m.Level(1) > High {
					t.Error("no such level")
				}
				m.Sources()
			}
		})
	}
	wg.Wait()
}

// TestMonitorFollowsGOMEMLIMIT uses the real runtime, and no files, so that the
// machine's own state does not matter.
func TestMonitorFollowsGOMEMLIMIT(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.FreeOSMemory() // otherwise a lower limit would release the free memory
	used := newGoMetrics(nil).read().used
	const tib = int64(1 << 40) // beside which the test's own memory is nothing
	for _, tt := range []struct {
		limit, offHeap int64
		want           Level
	}{
		{math.MaxInt64, 1 << 40, Low},
		{tib, 0, Low},
		{tib, tib / 4 * 3, Medium},
		{tib, tib, High},
		{used / 2, 0, High},
	} {
		debug.SetMemoryLimit(tt.limit)
		m := &Monitor{reader: NewReader(nil)}
		if got := m.Level(tt.offHeap); got != tt.want {
			t.Errorf("limit %d, %d in use, %d off heap: %v, want %v", tt.limit, used, tt.offHeap, got, tt.want)
		}
	}
}
