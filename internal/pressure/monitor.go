package pressure

import (
	"sync"
	"sync/atomic"
	"time"
)

// readEvery is the shortest time between two readings of a Monitor. A reading costs
// tens of microseconds, and two must be far enough apart to differ.
const readEvery = 100 * time.Millisecond

// A Monitor knows the level of the system that the program runs on. It is safe for
// concurrent use. The zero Monitor is ready for use; the first call of Level finds the
// files. A Monitor must not be copied.
type Monitor struct {
	// Limit returns GOMEMLIMIT in bytes, the limit for the runtime's and the off-heap
	// memory together. nil stands for the runtime's own limit, which is right unless
	// that is lowered for off-heap bytes. Limit must not change once Level has been
	// called.
	Limit func() int64

	// Changed is called with each level that differs from the one before, in order, and
	// before any call of Level returns it. It must not call the Monitor. It may be nil,
	// and must not change once Level has been called.
	Changed func(Level)

	level atomic.Uint32 // the last answer, written with mu held
	limit atomic.Int64  // Reader.limit of the last reading; 0: none yet

	// mu is held while files are read. Level never waits for it.
	mu         sync.Mutex
	reader     *Reader // nil until the first reading
	hysteresis Hysteresis
	read       time.Time // of the last reading; zero: none yet
}

// Level returns the level. It takes a reading unless the last one is younger than 100
// ms. While another goroutine takes one, it returns the previous level. offHeap is as
// in [Reader.Read].
func (m *Monitor) Level(offHeap int64) Level {
	if m.mu.TryLock() {
		defer m.mu.Unlock()
		if now := time.Now(); now.Sub(m.read) >= readEvery {
			m.read = now
			reading := m.system().readHigh(offHeap, now)
			m.limit.Store(m.reader.limit)
			m.setLocked(m.hysteresis.Next(reading, now))
		}
	}
	return Level(m.level.Load())
}

// setLocked sets the level that Level returns. The caller holds mu.
func (m *Monitor) setLocked(level Level) {
	if level != Level(m.level.Load()) && m.Changed != nil {
		m.Changed(level)
	}
	m.level.Store(uint32(level))
}

// Sources describes, for humans, the sources of the level: see [Reader.Sources].
func (m *Monitor) Sources() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.system().Sources()
}

// system returns the reader. The caller holds mu.
func (m *Monitor) system() *Reader {
	if m.reader == nil {
		m.reader = readerOf(System(), newGoMetrics(m.Limit).read)
	}
	return m.reader
}
