package dewpond_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/pressure"
)

// A poolsModel is what one or two BytePools must do for one user. It knows which
// bytes are out, and keeps its own count of everything that the pools' Stats count, except
// for what the pools may choose: whether a Get hits, and which Put finds the pool more than
// half full.
type poolsModel struct {
	history
	in     *script
	budget *dewpond.Budget // or nil
	pools  []*pooledModel
	start  time.Time

	checked bool // the pools are
	calm    bool // there never was any pressure
	single  bool // GOMAXPROCS was never above 1

	spans   []*span // all memory that the user holds; no two overlap
	stamp   byte
	blocks  []*heldBlock
	leases  []*heldLease
	buffers []*heldBuffer
	scopes  []*heldScope
	stale   []staleLease // were released
	bodies  []*pooledBody
	lost    []*span // blocks that bodies have outgrown: charged, as nobody loses them
	growing bool    // the step's Get was followed by a Put
	drawn   int64   // what was charged after the last step
}

// A pooledModel is one pool, and what its Stats must say.
type pooledModel struct {
	*dewpond.BytePool
	m       *poolsModel
	o       dewpond.BytePoolOptions
	maxIdle int64
	misses  missCredit
	mapped  bool // its blocks are: not so under the race detector, nor on every system
	closed  bool
	trimmed bool // Trim or Close was called

	mu      sync.Mutex
	reports []misuse.Violation // of a checked pool, since it was made

	want      dewpond.Stats     // Hits, Misses, Dropped.Full, OverBudget and Trimmed are not kept here
	last      dewpond.Stats     // what they said after the last step
	prewarmed uint64            // blocks
	inUse     int64             // bytes
	large     int64             // bytes of no class, which a budget is charged with
	out       int               // blocks
	hint      *dewpond.BodyPool // nil: not made yet
	hintOut   int               // bodies
	hinted    int64             // bytes in their blocks
	noRoom    bool              // the step's Put found the Budget full
	putSizes  []int             // of the step's Puts that the pool may have kept
}

// A held is what a Get has handed out: a block of a class, memory of no class, or
// memory that stands in for a block that is not to be had off the heap.
type held struct {
	size int
	kind heldKind
}

type heldKind uint8

const (
	ofClass heldKind = iota
	oversize
	fallback
	foreign // no pool's
	empty   // takes no block, and counts nowhere
)

// A missCredit is AllocRate: a second's worth of misses saved up at most.
type missCredit struct {
	interval time.Duration // 0: no limit
	saved    time.Duration
	at       time.Time
}

func (c *missCredit) allows(n int) bool {
	now := time.Now()
	c.saved, c.at = min(time.Second, c.saved+now.Sub(c.at)), now
	return c.saved >= time.Duration(n)*c.interval
}

func (c *missCredit) take() bool {
	ok := c.allows(1)
	if ok {
		c.saved -= c.interval
	}
	return ok
}

// newPoolsModel makes the pools that the script says.
func newPoolsModel(t *testing.T, in *script, checked bool) *poolsModel {
	m := &poolsModel{history: history{t: t}, in: in, start: time.Now(), checked: checked, calm: true}
	count := 1 + in.below(2)
	if limit := oneOf[int64](in, 0, 4096, 70_000, 1<<20); limit > 0 {
		m.budget = dewpond.MustBudget("", limit)
	}
	procs := 1 + in.below(4)
	runtime.GOMAXPROCS(procs)
	// The engine with locks finds a shard by the stack, which a collection may move.
	m.single = procs == 1 && percpu.Pinned
	m.say("budget %v, GOMAXPROCS %d", m.budget, procs)
	for range count {
		m.open()
	}
	return m
}

func (m *poolsModel) open() {
	large := []int{512, 16 << 10, 64 << 10}
	if offHeap { // where a class need not be a size of Go's
		large = []int{80, 3600, 33008}
	}
	p := &pooledModel{m: m, o: dewpond.BytePoolOptions{
		Classes:         oneOf(m.in, []int{64, 256, 1024, 64 << 10}, []int{128, 4096, 8192, 32 << 10, 48 << 10}, []int{64}, large),
		MaxIdleBytes:    oneOf[int64](m.in, 0, 1000, 5000, 100_000, 1<<20, dewpond.NoIdle),
		MaxIdlePerClass: oneOf(m.in, 0, 1, 3, 20),
		Zero:            oneOf(m.in, dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever),
		AllocRate:       oneOf(m.in, 0, 1, 5, 100),
		IdleTimeout:     oneOf(m.in, -1, 0, 100*time.Millisecond, time.Second),
		Budget:          m.budget,
	}}
	m.say("pool %d: %+v", len(m.pools), p.o)
	if m.checked {
		p.o.Check = dewpond.CheckAll
		p.o.OnViolation = func(v misuse.Violation) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reports = append(p.reports, v)
		}
	}
	p.BytePool = newPool(m.t, p.o)
	p.maxIdle = p.o.MaxIdleBytes
	switch p.maxIdle {
	case 0:
		p.maxIdle = 64 << 20
	case dewpond.NoIdle:
		p.maxIdle = 0
	}
	if p.o.IdleTimeout == 0 {
		p.o.IdleTimeout = time.Minute
	}
	if p.o.AllocRate > 0 {
		p.misses = missCredit{time.Second / time.Duration(p.o.AllocRate), time.Second, time.Now()}
	}
	p.last = p.Stats()
	p.mapped = p.last.OffHeap.Reserved > 0
	p.want.Classes = make([]dewpond.ClassStats, len(p.o.Classes))
	m.pools = append(m.pools, p)
}

func (p *pooledModel) reported() []misuse.Violation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports
}

func (p *pooledModel) largest() int { return p.o.Classes[len(p.o.Classes)-1] }

// class returns the class of n bytes, or -1 where n is larger than any.
func (p *pooledModel) class(n int) int {
	return slices.IndexFunc(p.o.Classes, func(size int) bool { return n <= size })
}

// A span is memory that the user holds, all of it: len and cap are one.
type span struct {
	b     []byte
	stamp byte // what every byte is, or 0: the user has not written here
}

func (s *span) from() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s.b))) }
func (s *span) to() uintptr   { return s.from() + uintptr(len(s.b)) }

// claim notes that the user has the memory. No other block may overlap it.
func (m *poolsModel) claim(b []byte) *span {
	m.t.Helper()
	s := &span{b: b[:cap(b)]}
	for _, other := range m.spans {
		if s.from() < other.to() && other.from() < s.to() {
			m.fail("%d bytes at %#x overlap %d at %#x, which are somebody's", len(s.b), s.from(), len(other.b), other.from())
		}
	}
	m.spans = append(m.spans, s)
	return s
}

// write fills all of it with a stamp that no other block has.
func (m *poolsModel) write(s *span) {
	m.stamp = max(1, m.stamp+1)
	s.stamp = m.stamp
	for i := range s.b {
		s.b[i] = s.stamp
	}
}

func (m *poolsModel) mustBeIntact(s *span) {
	m.t.Helper()
	if s.stamp != 0 && bytes.Count(s.b, []byte{s.stamp}) != len(s.b) {
		m.fail("%d bytes at %#x were written to by somebody else", len(s.b), s.from())
	}
}

// unclaim ends what claim began.
func (m *poolsModel) unclaim(s *span) {
	m.t.Helper()
	m.mustBeIntact(s)
	m.spans = slices.DeleteFunc(m.spans, func(other *span) bool { return other == s })
}

func mustBeZero(m *poolsModel, b []byte) {
	m.t.Helper()
	if bytes.Count(b, []byte{0}) != len(b) {
		m.fail("%d bytes still have some of an earlier owner's", len(b))
	}
}

// got checks what a Get of n bytes has returned and counts it. unasked says that
// neither AllocRate nor Budget could refuse.
func (p *pooledModel) got(b []byte, n int, unasked bool) held {
	p.m.t.Helper()
	h := p.counted(n, unasked)
	if len(b) != n || cap(b) != h.size {
		p.m.fail("Get(%d) returned %d of %d bytes, want a cap of %d", n, len(b), cap(b), h.size)
	}
	if p.o.Zero != dewpond.ZeroNever || h.kind == oversize {
		mustBeZero(p.m, b[:cap(b)])
	}
	return h
}

// counted counts the step's only Get, of n bytes.
func (p *pooledModel) counted(n int, unasked bool) held {
	p.m.t.Helper()
	if n == 0 {
		return held{0, empty}
	}
	c := p.class(n)
	if c < 0 {
		p.want.Oversize++
		p.large += int64(n)
		over := p.Stats().OverBudget - p.last.OverBudget
		if past := p.m.budget != nil && p.m.used() > p.m.budget.Limit(); over > 1 || over > 0 && !unasked || over == 0 && past && p.m.drawn <= p.m.budget.Limit() ||
			over > 0 && !past && !p.m.growing {
			p.m.fail("a Get of %d bytes is said to have gone past the budget %d times; %d are used", n, over, p.m.used())
		}
		return held{n, oversize}
	}
	h := held{p.o.Classes[c], ofClass}
	p.want.Classes[c].Gets++
	now := p.Stats()
	missed, over := now.Misses-p.last.Misses, now.OverBudget-p.last.OverBudget
	if now.OffHeap.Fallback != p.last.OffHeap.Fallback {
		if !offHeap || !p.closed {
			p.m.fail("a Get from the heap in place of a block off it")
		}
		p.want.OffHeap.Fallback++
		h.kind = fallback
	}
	if missed > 0 && p.misses.interval > 0 && !p.misses.take() {
		if !unasked {
			p.m.fail("a miss past AllocRate")
		}
		p.want.OverAllocRate++
	}
	if h.kind == ofClass {
		p.inUse += int64(h.size)
		p.out++
	}
	switch used := p.m.used(); {
	case missed > 1 || over > missed || over > 0 && !unasked:
		p.m.fail("%d misses and %d past the budget by one Get", missed, over)
	case over > 0 && !p.m.growing && used <= p.m.budget.Limit() && h.kind == ofClass:
		p.m.fail("a Get is said to have gone past the budget; %d are used", used)
	case missed > 0 && over == 0 && p.m.budget != nil && used > p.m.budget.Limit() && h.kind == ofClass:
		p.m.fail("a miss took the budget to %d and does not say so", used)
	case missed > 0 && p.m.single && !p.m.checked && // else it may lie in quarantine
		p.o.IdleTimeout < 0 && p.last.Classes[c].Idle > 0:
		p.m.fail("a Get missed while %d blocks of %d were idle, with no other processor", p.last.Classes[c].Idle, h.size)
	}
	return h
}

func (m *poolsModel) used() int64 {
	if m.budget == nil {
		return 0
	}
	return m.budget.Used()
}

// handedOut finds out, by the pool's own count, what the step's only Get has handed
// out, if there was one: a Buffer's or Scope's Gets are not the user's.
func (p *pooledModel) handedOut(limit int, unasked bool) (h held, any bool) {
	p.m.t.Helper()
	now := p.Stats()
	switch gets := now.Gets - p.last.Gets; {
	case gets == 0:
		return held{}, false
	case gets > 1:
		p.m.fail("%d Gets where one will do", gets)
	case now.Oversize > p.last.Oversize:
		return p.counted(max(limit, p.largest()+1), unasked), true
	}
	for c := range now.Classes {
		if now.Classes[c].Gets > p.last.Classes[c].Gets {
			return p.counted(now.Classes[c].Size, unasked), true
		}
	}
	p.m.fail("a Get of no class: %+v", now)
	return
}

// gaveBack counts a Put, which the pool must not refuse, of what a Get had handed out.
func (p *pooledModel) gaveBack(h held) {
	switch h.kind {
	case oversize:
		p.want.Dropped.Oversize++
		p.large -= int64(h.size)
		return
	case fallback:
		p.want.Dropped.Fallback++
		return
	case foreign:
		if h.size > p.largest() {
			p.want.Dropped.Oversize++
			return
		}
		p.want.Dropped.Foreign++
		p.offended()
		return
	case empty:
		return
	}
	p.inUse -= int64(h.size)
	p.out--
	p.want.Classes[p.class(h.size)].Puts++
	p.putSizes = append(p.putSizes, h.size)
	if p.closed {
		p.want.Dropped.Closed++
	}
}

// room is whether the budget has room for n bytes once all that is idle is let go.
func (m *poolsModel) room(n int) bool {
	if m.budget == nil {
		return true
	}
	used := int64(n)
	for _, p := range m.pools {
		used += p.inUse + p.large + p.hinted
	}
	return used+m.lostBytes() <= m.budget.Limit()
}

// check compares all that can be seen between two steps.
func (m *poolsModel) check() {
	m.t.Helper()
	used := m.lostBytes()
	for i, p := range m.pools {
		s := p.Stats()
		used += s.IdleBytes + p.inUse + p.hinted + p.large
		p.checkCounts(i, s)
		p.checkBounds(i, s)
		p.last, p.putSizes, p.noRoom = s, p.putSizes[:0], false
	}
	if m.budget != nil && m.used() != used {
		m.fail("%d bytes are charged, %d are idle and in use", m.used(), used)
	}
	m.drawn = m.used()
	for _, s := range m.spans {
		m.mustBeIntact(s)
	}
}

// checkCounts compares Stats with the model and with itself.
func (p *pooledModel) checkCounts(i int, s dewpond.Stats) {
	p.m.t.Helper()
	w := p.want
	w.Puts = w.Dropped.Oversize + w.Dropped.Foreign + w.Dropped.Double + w.Dropped.Fallback
	w.Gets = w.Oversize
	idle, kept := 0, p.prewarmed
	for c, got := range s.Classes {
		w.Gets += w.Classes[c].Gets
		w.Puts += w.Classes[c].Puts
		if got.Size != p.o.Classes[c] || got.Gets != w.Classes[c].Gets || got.Puts != w.Classes[c].Puts || got.Gets != got.Hits+got.Misses || got.Idle < 0 {
			p.m.fail("pool %d: %+v, want %+v", i, got, w.Classes[c])
		}
		idle += got.Idle
		kept += got.Puts - got.Hits
	}
	kept -= s.Dropped.Full + s.Dropped.Closed + s.Trimmed - s.Recovered
	counts := func(s dewpond.Stats) [12]uint64 {
		return [...]uint64{s.Gets, s.Puts, s.Refused, s.OverAllocRate, s.Oversize, s.Dropped.Oversize, s.Dropped.Foreign, s.Dropped.Double, s.Dropped.Fallback, s.Dropped.Closed, s.DoubleReleases, s.Adopted}
	}
	inUse := p.inUse
	if p.hintOut > 0 {
		inUse += int64(p.hintOut) * int64(dewpond.BodySize(p.hint))
	}
	switch {
	case counts(s) != counts(w):
		p.m.fail("pool %d: Gets, Puts, Refused, OverAllocRate, Oversize and dropped as Oversize, Foreign, Double, Fallback, Closed, DoubleReleases and Adopted:\n%v, want\n%v", i, counts(s), counts(w))
	case s.OffHeap.Fallback != w.OffHeap.Fallback:
		p.m.fail("pool %d: OffHeap.Fallback %d, want %d", i, s.OffHeap.Fallback, w.OffHeap.Fallback)
	case s.Gets != s.Hits+s.Misses+s.Oversize:
		p.m.fail("pool %d: %d Gets are %d hits, %d misses, %d oversize", i, s.Gets, s.Hits, s.Misses, s.Oversize)
	case s.InUseBytes != inUse:
		p.m.fail("pool %d: %d bytes in use, want %d", i, s.InUseBytes, inUse)
	case idle != int(kept):
		p.m.fail("pool %d: %d blocks are idle; by what came and went it is %d", i, idle, int(kept))
	case s.Violations != w.Violations || counted(p.reported()) != int(w.Violations):
		all := p.reported()
		p.m.fail("pool %d: %d violations, want %d; the last are %v", i, s.Violations, w.Violations, all[max(0, len(all)-2):])
	case s.OverBudget > s.Misses+s.Oversize || s.OverBudget > 0 && p.m.budget == nil:
		p.m.fail("pool %d: OverBudget %d", i, s.OverBudget)
	case s.Budget.Excess != 0 && (p.m.budget == nil || s.Budget.Excess != p.m.used()-p.m.budget.Limit()):
		p.m.fail("pool %d: Budget.Excess %d of %d", i, s.Budget.Excess, p.m.used())
	case offHeap && s.OffHeap.Committed < s.InUseBytes+s.IdleBytes:
		p.m.fail("pool %d: %d bytes are committed, fewer than %d in use and %d idle", i, s.OffHeap.Committed, s.InUseBytes, s.IdleBytes)
	case p.mapped && (s.OffHeap.Reserved == 0) != (p.closed && s.InUseBytes == 0):
		p.m.fail("pool %d: %d bytes are reserved; closed %v, %d in use", i, s.OffHeap.Reserved, p.closed, s.InUseBytes)
	}
}

// checkBounds looks at what is idle, and at what was dropped.
func (p *pooledModel) checkBounds(i int, s dewpond.Stats) {
	p.m.t.Helper()
	limit := p.maxIdle
	if p.closed {
		limit = 0
	}
	var idle int64
	for _, c := range s.Classes {
		idle += int64(c.Idle) * int64(c.Size)
		if most := p.o.MaxIdlePerClass; most > 0 && c.Idle > most {
			p.m.fail("pool %d: %d blocks of %d bytes are idle, want at most %d", i, c.Idle, c.Size, most)
		}
	}
	if s.IdleBytes != idle || idle > limit {
		p.m.fail("pool %d: %d bytes are idle, by class %d, want at most %d", i, s.IdleBytes, idle, limit)
	}
	if p.m.checked {
		return // which block leaves quarantine with a Put, and when, is the pool's to choose
	}
	full := s.Dropped.Full - p.last.Dropped.Full
	if full > uint64(len(p.putSizes)) {
		p.m.fail("pool %d: %d of %d blocks found no room", i, full, len(p.putSizes))
	}
	overdrawn := p.m.budget != nil && (p.m.drawn > p.m.budget.Limit() || s.OverBudget > p.last.OverBudget)
	if full > 0 && len(p.putSizes) == 1 && !overdrawn && !p.noRoom {
		perClass := p.o.MaxIdlePerClass
		if perClass == 0 {
			perClass = math.MaxInt
		}
		size := p.putSizes[0]
		if int64(size)+idle <= limit/2 && s.Classes[p.class(size)].Idle+1 <= perClass/2 {
			p.m.fail("pool %d: a block of %d bytes found no room beside %d", i, size, idle)
		}
	}
	early := p.o.IdleTimeout < 0 || p.m.calm && time.Since(p.m.start) < p.o.IdleTimeout
	if early && p.m.budget == nil && !p.trimmed && s.Trimmed > 0 {
		p.m.fail("pool %d: %d blocks let go after %v, before they can have been idle for %v", i, s.Trimmed, time.Since(p.m.start), p.o.IdleTimeout)
	}
}

// A script is what a fuzzer makes up: bytes, each of which decides one thing. What is
// missing at its end is 0.
type script struct{ bytes []byte }

func (s *script) ended() bool { return len(s.bytes) == 0 }

func (s *script) next() int {
	if s.ended() {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

// below returns a number of 0 to n-1.
func (s *script) below(n int) int { return s.next() % n }

// oneOf is a choice of the script's.
func oneOf[T any](s *script, choices ...T) T { return choices[s.below(len(choices))] }

// scriptSteps is how many operations of a script are carried out: more find no more,
// and the fuzzer would try ever longer ones.
const scriptSteps = 200

// takeOne takes one of a list out of it, or the zero value where there is none.
func takeOne[T any](s *script, all *[]T) (v T) {
	i := s.next()
	if len(*all) == 0 {
		return v
	}
	i %= len(*all)
	v = (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return v
}

// A history is what a script has had done, to find out why it failed.
type history struct {
	t   *testing.T
	log []string
}

func (l *history) say(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func (l *history) fail(format string, args ...any) {
	l.t.Helper()
	l.t.Errorf(format, args...)
	for _, line := range l.log {
		l.t.Log(line)
	}
	l.t.FailNow()
}

// addScripts gives a fuzzer its first scripts, each in several parts.
func addScripts(f *testing.F, all ...[][]byte) {
	for _, parts := range all {
		f.Add(slices.Concat(parts...))
	}
}

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

// The first scripts of FuzzBytePool: what pools there are, and then operations, each
// with what it asks for. They do everything once, in a few kinds of pools.
var poolScripts = [][][]byte{
	{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), plainScript()},
	{onePool(0, 1), aKind(1, 2, 2, 1, 0, 0), plainScript()},
	{onePool(0, 3), aKind(0, 1, 0, 2, 3, 3), plainScript(), timeScript()},
	{onePool(0, 4), aKind(3, 3, 3, 0, 1, 2), timeScript(), plainScript()},
	{onePool(0, 2), aKind(2, 5, 0, 0, 0, 1), handleScript(), plainScript()},
	{onePool(0, 2), aKind(1, 0, 0, 1, 0, 1), handleScript(), timeScript()},
	{onePool(2, 2), aKind(0, 0, 0, 2, 2, 2), handleScript(), budgetScript(), timeScript()},
	{twoPools(1, 1), aKind(0, 0, 0, 0, 0, 0), aKind(2, 0, 0, 0, 0, 0), budgetScript(), plainScript()},
	{twoPools(2, 4), aKind(1, 0, 0, 1, 3, 1), aKind(0, 4, 0, 0, 0, 3), budgetScript(), handleScript(), closeScript()},
	{twoPools(2, 1), aKind(3, 0, 0, 0, 0, 0), aKind(0, 0, 0, 2, 0, 2), closeScript(), budgetScript(), handleScript()},
	{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), closeScript(), handleScript(), plainScript()},
	{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), leaseScript()},
	{onePool(0, 4), aKind(1, 2, 2, 1, 0, 0), leaseScript(), timeScript(), leaseScript()},
	{twoPools(3, 2), aKind(3, 0, 0, 0, 0, 0), aKind(0, 5, 0, 2, 0, 2), leaseScript(), closeScript(), leaseScript()},
	{onePool(1, 2), aKind(0, 0, 0, 0, 0, 0), tryScript(), handleScript()},
	{onePool(0, 1), aKind(1, 0, 0, 1, 2, 0), tryScript(), closeScript()},
	{twoPools(2, 2), aKind(0, 0, 0, 0, 0, 0), aKind(1, 0, 0, 2, 0, 0), tryScript(), tryScript()},
	{onePool(0, 2), aKind(0, 0, 0, 0, 0, 0), adoptScript(), closeScript(), adoptScript()},
	{twoPools(2, 1), aKind(1, 0, 0, 1, 0, 1), aKind(0, 3, 2, 2, 2, 0), adoptScript(), budgetScript(), adoptScript(), closeScript(), adoptScript()},
}

// onePool and twoPools begin a script: with one of four budgets, of which 0 is none,
// and a GOMAXPROCS.
func onePool(budget, procs byte) []byte  { return []byte{0, budget, procs - 1} }
func twoPools(budget, procs byte) []byte { return []byte{1, budget, procs - 1} }

// aKind says what one of the pools is like, see poolsModel.open.
func aKind(classes, maxIdleBytes, maxIdlePerClass, zero, allocLimit, idleTimeout byte) []byte {
	return []byte{classes, maxIdleBytes, maxIdlePerClass, zero, allocLimit, idleTimeout}
}

// Sizes are the class's number times four, and what part of four says: the size itself,
// 1 less, 1 more, 40 less.

func plainScript() []byte {
	return []byte{
		opGet, 0, 0, opGet, 0, 3, opGet, 0, 4, opGet, 0, 14, opGet, 0, 255, opGet, 0, 12,
		opPut, 0, 0, opPut, 0, 9, opGet, 0, 0, opGet, 0, 1,
		opPutWrong, 0, 0, 3, opPutWrong, 0, 1, 1, opPutWrong, 0, 2, 0, 1, opPutWrong, 0, 3, 0, 2, opPutWrong, 0, 5, 0,
		opPutWrong, 0, 1, 4, opPutWrong, 0, 1, 33, opPutWrong, 0, 1, 255, // of a class, at odd addresses
		opPutTwice, 1, opPutTwice, 0,
		opGrow, 0, 0, 200, 4, opGrow, 0, 0, 100, 8, opGrow, 0, 1, 255, 14, opAppend, 0, 0, 77, 5, 0, opAppend, 0, 0, 255, 5, 1, opAppend, 0, 0, 99, 0, 1,
		opPrewarm, 0, 0, 3, opPrewarm, 0, 4, 8, opPrewarm, 0, 14, 1, opTryGet, 0, 0, opTryGet, 0, 5, opTryGet, 0, 14,
		opPut, 3, 2, opPut, 2, 2, opTrim, 0, opPutAll, opGet, 0, 0, opGet, 0, 4, opGet, 0, 0,
		opProcs, 3, opBurst, 0, 3, 11, 0, opBurst, 0, 2, 5, 8, opProcs, 1, opBurst, 0, 1, 9, 4, opTrim, 0,
		opGet, 0, 12, opPutAll, opGet, 0, 12, opPrewarm, 0, 0, 8, opProcs, 5, opGet, 0, 0, opPutAll,
		opReadAll, 0, 0, 1, opReadAll, 0, 255, 1, opReadAll, 0, 4, 0, opReadAll, 0, 14, 1, opPutAll,
	}
}

func timeScript() []byte {
	return []byte{
		opGet, 0, 0, opGet, 0, 0, opGet, 0, 0, opTryGet, 0, 0, opTryGet, 0, 0, opTryGet, 0, 4, opTryGet, 0, 4, opTryGet, 0, 4,
		opGetDeadline, 0, 0, opGetDeadline, 0, 4, opGetCancelled, 0, 0, opGetCancelled, 0, 4, opRest, 2, opTryGet, 0, 0, opRest, 3,
		opPutAll, opGet, 0, 0, opTryGet, 0, 0, opGetCancelled, 0, 0, opRest, 1, opTrim, 0, opPut, 0, 0, opRest, 5,
		opGetBatch, 0, 0, 2, 0, opGetBatch, 0, 0, 5, 1, opGetBatch, 0, 4, 4, 1, opPut, 0, 0, opPut, 0, 0, opGetBatch, 0, 0, 4, 0, opPutAll, opGetBatch, 0, 0, 3, 0, opGetBatch, 0, 255, 2, 1,
		opBurst, 0, 3, 11, 0, opPressure, 1, opRest, 4, opBurst, 0, 3, 11, 4, opPressure, 2, opRest, 4, opGet, 0, 0, opPressure, 0, opPutAll, opRest, 5,
	}
}

func handleScript() []byte {
	return []byte{
		opLease, 0, 0, opLease, 0, 4, opTriedLease, 0, 0, opRetain, 0, 0, opRetain, 0, 1, opRelease, 0, 0, opReleaseStale, 0,
		opRelease, 0, 1, opRelease, 0, 0, opReleaseStale, 1, opLease, 0, 1, opReleaseStale, 2, opRelease, 0, 0, opReleaseStale, 0, opLease, 0, 14,
		opBuffer, 0, opBuffer, 1, opBufferWrite, 0, 9, 0, opBufferWrite, 0, 99, 0, opBufferWrite, 0, 0, 1, opBufferWrite, 1, 0, 2, opBufferWrite, 1, 70, 3,
		opBufferRead, 0, 50, opBufferWrite, 0, 60, 0, opBufferCut, 0, 100, opBufferRead, 0, 255, opBufferRelease, 0, 1, opBufferWrite, 0, 64, 0, opBufferWrite, 0, 200, 4, opBufferWrite, 0, 255, 0, opBufferWrite, 0, 255, 1, opBufferRelease, 1, 0,
		opScope, 0, opScopeGet, 0, 0, 0, opScopeGet, 0, 3, 0, opScopeGet, 0, 4, 1, opScopeGet, 0, 1, 0, opScopeGet, 0, 6, 0, opScopeGet, 0, 8, 0, opScopeSlice, 0, 9, opScopeSlice, 0, 255,
		opScopeTryGet, 0, 1, opScopeTryGet, 0, 0, opScopeTryGet, 0, 7, opScopeTryGet, 0, 10, opScope, 1, opScopeTryGet, 1, 3, opScopeGet, 1, 10, 1, opScopeGet, 1, 5, 0, opScopeGet, 1, 7, 0, opScopeGet, 1, 9, 0, opScopeClose, 0,
		opGet, 0, 0, opGet, 0, 8, opScopeClose, 0, opBufferRelease, 0, 0, opTrim, 0, opLease, 0, 0, opReleaseStale, 5,
	}
}

func leaseScript() []byte {
	return []byte{
		opGet, 0, 8, opGet, 0, 0, opGet, 0, 14, opPutMore, 0, 7, opPutMore, 5, 0, opGet, 0, 0, opGet, 0, 9,
		opLeaseOf, 0, 255, opLeaseOf, 0, 40, opLeaseOf, 0, 0, opLeaseCancelled, 0, 8, opLeaseCancelled, 0, 14,
		opSlice, 0, 0, 0, 64, opSlice, 0, 1, 128, 250, opSlice, 0, 0, 9, 3, opSlice, 1, 0, 0, 255, opTruncate, 0, 0, 16, opTruncate, 0, 4, 255, opSlice, 0, 4, 200, 250, opRetain, 0, 0,
		opTruncate, 1, 0, 128, opTruncate, 1, 1, 100, opRelease, 1, 2, opReleaseStale, 0, opReleaseStale, 1,
		opRelease, 0, 0, opGet, 0, 0, opGet, 0, 4, opRelease, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opGet, 0, 0, opGet, 0, 8, opReleaseStale, 2,
		opLease, 0, 8, opSlice, 0, 0, 10, 200, opTruncate, 0, 0, 100, opLeaseBurst, 0, 0, 3, 7, opRelease, 0, 0, opLease, 0, 4, opLeaseBurst, 0, 0, 1, 3, opGet, 0, 4, opReleaseStale, 7,
		opLeaseWrong, 0, 0, 3, opLeaseWrong, 0, 1, 1, opLeaseWrong, 0, 2, 0, 1, opLeaseWrong, 0, 3, 0, 2, opLeaseWrong, 0, 5, 0, opLeaseWrong, 0, 1, 33, opLeaseWrong, 1, 4, 0, 0, opGet, 0, 0,
		opBuffer, 0, opBufferLease, 0, opBufferWrite, 0, 60, 0, opBufferRead, 0, 20, opBufferLease, 0, opBufferWrite, 0, 99, 0, opSlice, 1, 0, 20, 60, opBufferLease, 0, opBufferRead, 0, 4, opBufferWrite, 0, 255, 0, opBufferLease, 0,
		opRelease, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opTrim, 0, opGet, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opReleaseStale, 3, opLease, 0, 0, opPutAll,
	}
}

func budgetScript() []byte {
	return []byte{
		opGet, 0, 4, opGet, 1, 0, opGet, 1, 4, opPrewarm, 0, 0, 8, opPrewarm, 1, 0, 8, opPut, 0, 0, opPut, 0, 0,
		opTryGet, 0, 8, opTryGet, 0, 8, opTryGet, 0, 8, opTryGet, 0, 8, opTryGet, 0, 4, opTryGet, 1, 4, opTryGet, 1, 12, opTryGet, 0, 12,
		opPutWrong, 0, 4, 0, 0, opPutWrong, 1, 4, 0, 0, opGetDeadline, 0, 8, opGetCancelled, 0, 8, opGetCancelled, 1, 0, opGet, 0, 8, opGet, 0, 12, opPut, 0, 0,
		opPrewarm, 0, 4, 8, opGetDeadline, 1, 0, opTriedLease, 0, 4, opTrim, 1, opPut, 1, 0, opPutAll, opTryGet, 1, 4, opTryGet, 0, 8,
		opGetBatch, 0, 4, 5, 0, opGetBatch, 1, 0, 5, 1, opGetBatch, 1, 4, 3, 1, opGetBatch, 0, 12, 2, 0, opGetBatch, 0, 14, 1, 1, opScope, 0, opScopeTryGet, 0, 3, opScopeTryGet, 0, 7, opScopeTryGet, 0, 2, opScopeClose, 0, opPutAll,
	}
}

func adoptScript() []byte {
	return []byte{
		opAdopt, 0, 0, 0, 0, opAdopt, 0, 4, 0, 0, opAdopt, 0, 5, 2, 0, opAdopt, 1, 8, 1, 0, opAdopt, 0, 14, 0, 0, opAdopt, 0, 0, 0, 1, opAdopt, 0, 255, 0, 0, opAdopt, 0, 9, 0, 0,
		opGet, 0, 0, opGet, 0, 4, opPutAll, opBodyPoolGet, 0, opBodyPoolGet, 1, opBodyPoolGet, 0, opBodyPoolPut, 0, 0, opBodyPoolPut, 0, 1, 200, opBodyPoolPut, 0, 1, 40, opBodyPoolGet, 0, opBodyPoolGet, 0,
		opBodyPoolPut, 0, 1, 255, opBodyPoolGet, 0, opTrim, 0, opBodyPoolGet, 0, opBodyPoolPut, 1, 0, opRest, 4, opBodyPoolPut, 0, 0, opBodyPoolGet, 1, opBodyPoolPut, 0, 1, 7,
	}
}

func closeScript() []byte {
	return []byte{
		opGet, 0, 0, opGet, 0, 4, opLease, 0, 0, opBuffer, 0, opBufferWrite, 0, 9, 0, opPut, 0, 0, opClose, 0, 0,
		opGet, 0, 0, opTryGet, 0, 0, opTryGet, 0, 14, opGetCancelled, 0, 0, opGetBatch, 0, 0, 2, 1, opScope, 0, opScopeTryGet, 0, 3, opPrewarm, 0, 0, 2, opTrim, 0, opPut, 0, 0, opPut, 0, 0, opClose, 0, 0,
		opBufferWrite, 0, 99, 0, opRelease, 0, 0, opPutWrong, 0, 0, 3, opGrow, 0, 0, 9, 4, opRest, 3, opGet, 0, 14, opPutAll,
	}
}

func tryScript() []byte {
	return []byte{
		opTryBuffer, 0, opTryBuffer, 0, opBufferWrite, 0, 9, 0, opBufferWrite, 1, 60, 0, opBufferWrite, 0, 99, 0, opBufferWrite, 0, 0, 1, opBufferWrite, 0, 0, 1,
		opBufferWrite, 0, 70, 3, opBufferWrite, 1, 99, 3, opBufferRead, 0, 40, opBufferWrite, 0, 90, 4, opGet, 0, 4, opBufferWrite, 0, 60, 0, opBufferWrite, 0, 0, 2, opBufferWrite, 1, 0, 2,
		opPutAll, opBufferWrite, 0, 60, 0, opBufferWrite, 0, 255, 0, opBufferWrite, 0, 255, 0, opBufferCut, 0, 3, opBufferWrite, 0, 200, 0, opBufferLease, 0, opBufferWrite, 0, 99, 0, opRelease, 0, 0,
		opBufferRelease, 0, 1, opBufferWrite, 0, 50, 0, opBufferRead, 0, 9, opBufferWrite, 0, 30, 4, opClose, 0, 0, opBufferWrite, 0, 5, 0, opBufferWrite, 0, 120, 0, opBufferRelease, 0, 0,
	}
}
