package dewpond_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/pressure"
)

// What a poolsModel does with pools as such: Prewarm, Trim, Close, and the world around
// them.

func (m *poolsModel) prewarm(p *pooledModel) {
	n, count := p.size(), m.in.below(9)
	c := p.class(n)
	m.say("Prewarm %d of %d of %d", count, n, p.number())
	before, used := p.Stats(), m.used()
	err := p.Prewarm(n, count)
	if c < 0 {
		if err == nil {
			m.fail("Prewarm(%d, %d): no error", n, count)
		}
		return
	}
	size := p.o.Classes[c]
	fits := count
	if m.budget != nil {
		fits = int(max(0, min(int64(count), (m.budget.Limit()-used)/int64(size))))
	}
	made := 0
	switch {
	case n == 0 && !p.closed:
		if err != nil {
			m.fail("Prewarm(0, %d): %v", count, err)
		}
	case p.closed:
		if !errors.Is(err, dewpond.ErrClosed) {
			m.fail("Prewarm(%d, %d) after Close: %v", n, count, err)
		}
	case err == nil:
		if made = count; fits < count {
			m.fail("Prewarm(%d, %d) with %d bytes charged: no error", n, count, used)
		}
	default:
		text := err.Error()
		if _, e := fmt.Sscanf(text[max(0, strings.Index(text, "room for ")):], "room for %d", &made); e != nil {
			m.fail("Prewarm(%d, %d): %v: does not say how many", n, count, err)
		}
		half := int64(made*size+size)+before.IdleBytes <= p.maxIdle/2 && (p.o.MaxIdlePerClass == 0 || before.Classes[c].Idle+made+1 <= p.o.MaxIdlePerClass/2)
		if made >= count || made > fits || made < fits && half {
			m.fail("Prewarm(%d, %d): %v; the budget has room for %d, %d bytes are idle", n, count, err, fits, before.IdleBytes)
		}
	}
	p.prewarmed += uint64(made)
	if idle := p.Stats().Classes[c].Idle - before.Classes[c].Idle; idle != made {
		m.fail("Prewarm(%d, %d): %v; %d more are idle", n, count, err, idle)
	}
}

func (m *poolsModel) trim(p *pooledModel) {
	m.say("Trim %d", p.number())
	p.trimmed = true
	before := p.Stats()
	released := p.Trim()
	after := p.Stats()
	if released != before.IdleBytes || after.IdleBytes != 0 || after.ReleasedBytes-before.ReleasedBytes != released || after.Trimmed-before.Trimmed != uint64(blocks(before)) {
		m.fail("%d bytes were idle in %d blocks; Trim returned %d, counted %d in %d, left %d", before.IdleBytes, blocks(before),
			released, after.ReleasedBytes-before.ReleasedBytes, after.Trimmed-before.Trimmed, after.IdleBytes)
	}
}

func (m *poolsModel) close(p *pooledModel) {
	if m.in.below(4) != 0 { // else most of a script would be after Close
		return
	}
	m.say("Close %d", p.number())
	m.closeNow(p)
}

func (m *poolsModel) closeNow(p *pooledModel) {
	if m.checked && offHeap && !p.closed { // where Close reports what is out
		p.want.Violations += uint64(p.out)
	}
	p.closed, p.trimmed = true, true
	if err := p.Close(); (err != nil) != (offHeap && p.inUse > 0) {
		m.fail("Close of pool %d with %d bytes out: %v", p.number(), p.inUse, err)
	}
}

// rest lets time pass, for long enough to let all go that is idle, or not.
func (m *poolsModel) rest() {
	d := oneOf(m.in, time.Nanosecond, 20*time.Millisecond, 200*time.Millisecond, time.Second, 10*time.Second, 4*time.Minute)
	m.say("rest %v", d)
	time.Sleep(d)
	synctest.Wait()
	for _, p := range m.pools {
		enough := 3 * p.o.IdleTimeout
		if pressure.Current() == pressure.High {
			enough = p.o.IdleTimeout
		}
		if s := p.Stats(); p.o.IdleTimeout > 0 && d > enough && s.IdleBytes > 0 {
			m.fail("%d bytes are idle in pool %d after a rest of %v, with an IdleTimeout of %v", s.IdleBytes, p.number(), d, p.o.IdleTimeout)
		}
		if !p.closed && p.o.IdleTimeout > 0 && d > 4*p.o.IdleTimeout && dewpond.Armed(p.BytePool) {
			m.fail("pool %d is empty and has a timer", p.number())
		}
	}
}

func (m *poolsModel) pressure() {
	level := oneOf(m.in, pressure.Low, pressure.Medium, pressure.High)
	m.say("pressure %v", level)
	dewpond.SetLevel(level)
	m.calm = m.calm && level == pressure.Low
}

func (m *poolsModel) procs() {
	n := 1 + m.in.below(6)
	m.say("GOMAXPROCS %d", n)
	runtime.GOMAXPROCS(n)
	m.single = m.single && n == 1
}

// end gives everything back, after which nothing may be left of it.
func (m *poolsModel) end() {
	m.putAll()
	for len(m.bodies) > 0 {
		m.hintPut()
		m.check()
	}
	for len(m.buffers) > 0 {
		m.bufferRelease()
		m.check()
	}
	for len(m.scopes) > 0 {
		m.scopeClose()
		m.check()
	}
	for len(m.leases) > 0 {
		m.release()
		m.check()
	}
	for _, p := range m.pools {
		m.closeNow(p)
		m.check()
		if p.inUse != 0 {
			m.fail("%d bytes are in use after all", p.inUse)
		}
	}
	if used := m.used(); m.budget != nil && used != m.lostBytes() || len(m.spans) != 0 {
		m.fail("%d bytes are charged after all, %d pieces held", used, len(m.spans))
	}
	runtime.KeepAlive(m.lost)
}
