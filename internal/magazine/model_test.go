package magazine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// A model is what an engine with one user must do: keep a set of blocks, and count.
type model struct {
	t      *testing.T
	rng    *rand.Rand
	config Config
	engine Engine
	idle   []map[unsafe.Pointer]bool // by class
	out    [][]unsafe.Pointer
	counts []Counts
}

// TestEngineFollowsModel makes random calls, on all shards. After each kind of call it
// checks that no block is out twice or lost, that counts and reservations are exact and
// within bounds, and that an engine which has no room is at least half full.
func TestEngineFollowsModel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	sizes := []int{64, 1024, 8192, 32 << 10, 64 << 10}
	for i, c := range []Config{
		{Sizes: sizes, MaxIdleBytes: 64 << 20},
		{Sizes: sizes, MaxIdleBytes: 1 << 20},
		{Sizes: sizes, MaxIdleBytes: 100_000},
		{Sizes: sizes, MaxIdleBytes: 5000},
		{Sizes: sizes, MaxIdleBytes: 64 << 20, MaxIdlePerClass: 300},
		{Sizes: sizes, MaxIdleBytes: 2 << 20, MaxIdlePerClass: 37},
		{Sizes: sizes, MaxIdleBytes: 64 << 20, MaxIdlePerClass: 1},
		{Sizes: sizes, MaxIdleBytes: 1 << 20, Direct: true},
		{Sizes: []int{1}, MaxIdleBytes: 500},
		{Sizes: []int{64}, MaxIdleBytes: 0},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			runtime.GOMAXPROCS(1)
			m := &model{
				t: t, rng: rand.New(rand.NewPCG(1, uint64(i))), config: c,
				out: make([][]unsafe.Pointer, len(c.Sizes)), counts: make([]Counts, len(c.Sizes)),
			}
			for range c.Sizes {
				m.idle = append(m.idle, map[unsafe.Pointer]bool{})
			}
			m.engine.Init(c)
			m.engine.grow()
			for step := 0; step < 1500 && !t.Failed(); step++ {
				m.step()
				m.check()
			}
			m.empty(m.engine.Close)
			m.check()
			if r := m.engine.Push(0, block()); r != AfterClose || m.engine.Pop(0) != nil || m.engine.EnterDirect() {
				t.Error("a closed engine does something")
			}
		})
	}
}

// step makes calls of one kind, often many, so that magazines fill and empty.
func (m *model) step() {
	e, class := &m.engine, uint8(m.rng.IntN(len(m.idle)))
	id := uint(m.rng.IntN(int(e.array().procs)))
	times := 1 + m.rng.IntN(100)
	switch what := m.rng.IntN(100); {
	case what < 35:
		for range times {
			m.push(class, func(b unsafe.Pointer) Result { return pushAt(e, id, class, b) })
		}
	case what < 40:
		m.push(class, func(b unsafe.Pointer) Result { return e.Push(class, b) })
	case what < 45:
		b := block()
		m.pushed(class, b, e.Add(class, b))
	case what < 75:
		for range times {
			m.popped(class, popAt(e, id, class))
		}
	case what < 80:
		m.popped(class, e.Pop(class))
	case what < 85:
		b, exact := e.PopExact(class)
		if b == nil && exact != e.IsDirect() {
			m.t.Errorf("PopExact is exact: %v, and the engine in direct mode: %v", exact, e.IsDirect())
		}
		m.popped(class, b)
	case what < 87:
		m.empty(e.Trim)
	case what < 89:
		m.shed(class, times)
	case what < 90:
		Gather([]*Engine{e})
	case what < 92:
		e.EnterDirect()
	case what < 96:
		e.LeaveDirect()
	default:
		runtime.GOMAXPROCS(1 + m.rng.IntN(8))
		e.grow()
	}
}

// push gives the engine a block that the engine gave out before, or a fresh one.
func (m *model) push(class uint8, how func(unsafe.Pointer) Result) {
	b := block()
	if last := len(m.out[class]) - 1; last >= 0 {
		b, m.out[class] = m.out[class][last], m.out[class][:last]
	}
	r := how(b)
	m.pushed(class, b, r)
	if r <= KeptDirect {
		m.counts[class].Puts++
	}
}

func (m *model) pushed(class uint8, b unsafe.Pointer, r Result) {
	want := Kept
	if m.engine.IsDirect() {
		want = KeptDirect
	}
	switch r {
	case want:
		m.idle[class][b] = true
	case NoRoom:
		bytes := int64(0)
		for class, idle := range m.idle {
			bytes += int64(len(idle)) * int64(m.config.Sizes[class])
		}
		size := int64(m.config.Sizes[class])
		limit := m.config.MaxIdlePerClass
		if bytes+size <= m.config.MaxIdleBytes/2 && (limit == 0 || len(m.idle[class]) < (limit+1)/2) {
			m.t.Errorf("no room for a block of %d: %d bytes and %d of the class are idle", size, bytes, len(m.idle[class]))
		}
	default:
		m.t.Errorf("a push returned %d", r)
	}
}

// popped checks a block that a Pop returned, or, when all blocks are in the depots,
// that nil was right.
func (m *model) popped(class uint8, b unsafe.Pointer) {
	switch {
	case b != nil && !m.idle[class][b]:
		m.t.Errorf("class %d: a Pop returned a block that was not idle", class)
	case b != nil:
		delete(m.idle[class], b)
		m.out[class] = append(m.out[class], b)
		m.counts[class].Hits++
	case len(m.idle[class]) > 0 && (m.engine.IsDirect() || m.config.Direct || int(class) >= m.engine.sharded):
		m.t.Errorf("class %d: a Pop found none of %d idle blocks", class, len(m.idle[class]))
	}
}

// shed checks that Shed releases as many blocks as it is asked for, of those that the
// depot has.
func (m *model) shed(class uint8, n int) {
	e := &m.engine
	held := int(e.depots.At(uint8(class)).blocks.Load())
	got := e.Shed(class, n, func(c uint8, b unsafe.Pointer) {
		if c != class || !m.idle[class][b] {
			m.t.Errorf("class %d: a block was shed that was not idle", class)
		}
		delete(m.idle[class], b)
		m.counts[class].Released++
	})
	if got != min(n, held) {
		m.t.Errorf("class %d: shed %d of %d, asked for %d", class, got, held, n)
	}
	if low := e.Low(class); low > held-got {
		m.t.Errorf("class %d: %d blocks are left, and the least was %d", class, held-got, low)
	}
	if low := e.Low(class); low != held-got {
		m.t.Errorf("class %d: %d blocks are left, and since then the least was %d", class, held-got, low)
	}
}

// empty checks Trim or Close, which must release all blocks.
func (m *model) empty(how func(func(uint8, unsafe.Pointer), ...*Engine) int64) {
	bytes := int64(0)
	reported := how(func(class uint8, b unsafe.Pointer) {
		if !m.idle[class][b] {
			m.t.Errorf("class %d: a block was released that was not idle", class)
		}
		delete(m.idle[class], b)
		m.counts[class].Released++
		bytes += int64(m.config.Sizes[class])
	})
	if bytes != reported {
		m.t.Errorf("%d bytes were released, %d reported", bytes, reported)
	}
	for class, left := range m.idle {
		if len(left) > 0 {
			m.t.Errorf("class %d: %d blocks were not released", class, len(left))
		}
	}
}

func (m *model) check() {
	m.t.Helper()
	check(m.t, &m.engine)
	bytes := int64(0)
	for class, got := range m.engine.Counts() {
		want := m.counts[class]
		want.Idle = len(m.idle[class])
		if got != want {
			m.t.Errorf("class %d counts %+v, want %+v", class, got, want)
		}
		if limit := m.config.MaxIdlePerClass; limit > 0 && want.Idle > limit {
			m.t.Errorf("class %d has %d blocks idle, at most %d are allowed", class, want.Idle, limit)
		}
		bytes += int64(want.Idle) * int64(m.config.Sizes[class])
	}
	if got := m.engine.Reserved(); got < bytes || got > m.config.MaxIdleBytes {
		m.t.Errorf("%d bytes are reserved for %d that are idle, at most %d are allowed", got, bytes, m.config.MaxIdleBytes)
	}
}

// However many Ps are added, empty places in all their shards leave a pool half of its
// bound.
func TestHalfOfTheBoundsAfterGrowth(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []Config{
		{Sizes: []int{64}, MaxIdleBytes: 100_000},
		{Sizes: []int{64}, MaxIdleBytes: 1 << 20, MaxIdlePerClass: 1000},
	} {
		runtime.GOMAXPROCS(1)
		var e Engine
		e.Init(c)
		e.grow()
		runtime.GOMAXPROCS(8)
		e.grow()
		// Fill and empty two magazines of each shard but the last.
		for id := range e.array().procs {
			for range 2 * MaxRounds {
				pushAt(&e, id, 0, block())
			}
			for id < e.array().procs-1 && popAt(&e, id, 0) != nil {
			}
		}
		for range 100_000 / 64 {
			pushAt(&e, e.array().procs-1, 0, block())
		}
		half := int(c.MaxIdleBytes / 64 / 2)
		if c.MaxIdlePerClass > 0 {
			half = c.MaxIdlePerClass / 2
		}
		if idle := e.Counts()[0].Idle; idle < half {
			t.Errorf("%+v: %d blocks are idle, half of the bound is %d", c, idle, half)
		}
		check(t, &e)
	}
}
