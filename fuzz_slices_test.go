package dewpond_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// A slicesModel is what a SlicePool must do for one user, who writes to every element of
// every slice that it holds.
type slicesModel[T comparable] struct {
	history
	in     *script
	of     func(stamp int) T
	p      *dewpond.SlicePool[T]
	o      dewpond.SlicePoolOptions[T]
	size   int // of T, in bytes
	misses missCredit
	closed bool

	mu      sync.Mutex
	reports []misuse.Violation
	resets  int // the calls of Reset

	stamp int
	out   []*heldSlice[T]
	large int64 // bytes of no class that are out
	last  dewpond.Stats
	want  dewpond.Stats // Hits, Misses, Dropped.Full, OverBudget and Trimmed are not kept here
	put   uint64        // slices that Reset must have been called for
}

// A heldSlice is what Get and its like returned, of which every element is one value.
type heldSlice[T any] struct {
	s     []T // up to the cap
	stamp int
}

// A cell has pointers, and a plain has none and a size that is no power of two.
type (
	cell struct { // of 16 bytes, whatever the word
		at *int
		n  int
		_  [8 - unsafe.Sizeof(0)]byte
		_  [8 - unsafe.Sizeof(0)]byte
	}
	plainCell [3]uint32
)

var cellTargets [256]int

func cellOf(stamp int) cell       { return cell{at: &cellTargets[stamp%256], n: stamp} }
func plainOf(stamp int) plainCell { return plainCell{uint32(stamp), 7, uint32(stamp)} }

// resetStamp is what Reset writes.
const resetStamp = -1 & 0xffff

const (
	opSliceGet = iota
	opSliceTryGet
	opSliceGetContext
	opSlicePut
	opSlicePutWrong
	opSlicePutTwice
	opSlicePutAndWrite
	opSliceGrow
	opSliceAppend
	opSlicePrewarm
	opSliceTrim
	opSliceClose
	opSliceRest
	opSliceProcs
	opSliceBurst
	opSlicePutAll
	sliceOps
)

// FuzzSlicePool does what a script says with a SlicePool, of elements with pointers or
// without, and compares every step with a model.
//
//	go test -run '^$' -fuzz FuzzSlicePool -fuzzminimizetime 20x .
func FuzzSlicePool(f *testing.F) {
	notWatched(f, "its model of each Get knows no quarantine")
	all := []byte{
		opSliceGet, 0, opSliceGet, 3, opSliceGet, 4, opSliceGet, 14, opSliceGet, 255, opSliceTryGet, 12, opSliceTryGet, 0, opSlicePut, 0, 0, opSlicePut, 0, 9, opSliceGet, 0,
		opSlicePutWrong, 0, 3, opSlicePutWrong, 1, 1, opSlicePutWrong, 2, 0, opSlicePutWrong, 3, 0, opSlicePutWrong, 4, 0, opSlicePutTwice, 0, opSlicePutAndWrite, 0, 9, opSliceGet, 8,
		opSliceGrow, 0, 99, 4, opSliceGrow, 0, 255, 14, opSliceAppend, 0, 77, 5, 0, opSliceAppend, 0, 255, 5, 1, opSliceAppend, 1, 9, 0, 1, opSlicePrewarm, 0, 3, opSlicePrewarm, 14, 2,
		opSliceGetContext, 0, 0, opSliceGetContext, 4, 1, opSliceTrim, opSlicePrewarm, 4, 8, opSliceTryGet, 5, opSliceTryGet, 5, opSliceTryGet, 5, opSliceTryGet, 14, opSlicePutAll,
		opSliceProcs, 3, opSliceBurst, 3, 11, 0, opSliceBurst, 2, 5, 8, opSliceRest, 2, opSliceGet, 0, opSliceRest, 5, opSliceGet, 0, opSlicePut, 0, 0, opSliceRest, 5, opSliceProcs, 0,
		opSliceBurst, 1, 9, 4, opSliceGet, 4, opSliceGet, 0, opSliceClose, 0, opSlicePut, 0, 0, opSliceGet, 0, opSliceTryGet, 0, opSliceGetContext, 0, 1, opSlicePrewarm, 0, 1, opSlicePutAll,
	}
	for _, kind := range [][]byte{
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 2, 2, 1, 0, 1, 1, 2, 3}, {0, 2, 1, 0, 2, 3, 0, 2, 1, 2}, {0, 3, 3, 1, 0, 2, 0, 1, 0, 0}, {0, 1, 0, 2, 0, 0, 1, 0, 1, 1},
		{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 2, 2, 1, 1, 1, 0, 2, 3}, {1, 2, 1, 0, 2, 2, 0, 2, 1, 2}, {1, 3, 3, 1, 0, 0, 0, 1, 0, 0}, {1, 1, 0, 2, 0, 1, 1, 2, 1, 1},
	} {
		addScripts(f, [][]byte{kind, all})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		synctest.Test(t, func(t *testing.T) {
			in := &script{b}
			if in.below(2) == 0 {
				fuzzSlices(t, in, cellOf)
			} else {
				fuzzSlices(t, in, plainOf)
			}
		})
	})
}

func fuzzSlices[T comparable](t *testing.T, in *script, of func(stamp int) T) {
	m := newSlicesModel(t, in, of)
	for range scriptSteps {
		if m.in.ended() {
			break
		}
		m.step()
		m.check()
	}
	m.putAll()
	m.close()
	m.check()
	if m.last.InUseBytes != 0 || m.used() != 0 {
		m.fail("%d bytes are in use after all, and %d charged", m.last.InUseBytes, m.used())
	}
}

func newSlicesModel[T comparable](t *testing.T, in *script, of func(stamp int) T) *slicesModel[T] {
	m := &slicesModel[T]{history: history{t: t}, in: in, of: of, size: int(unsafe.Sizeof(*new(T)))}
	m.o = dewpond.SlicePoolOptions[T]{
		Name:            t.Name(),
		Classes:         oneOf(in, []int{4, 20, 100, 5000}, []int{8, 48, 1000, 20_000}, []int{12}, []int{5, 9, 12, 2730, 2732}),
		MaxIdleBytes:    oneOf[int64](in, 0, 1000, 100_000, dewpond.NoIdle),
		MaxIdlePerClass: oneOf(in, 0, 1, 3),
		AllocRate:       oneOf(in, 0, 1, 100),
		IdleTimeout:     oneOf(in, -1, 0, 100*time.Millisecond, time.Second),
	}
	if in.below(2) == 1 {
		m.o.Budget = dewpond.MustBudget("", oneOf[int64](in, 4096, 70_000, 1<<20))
	}
	switch in.below(3) {
	case 1:
		m.o.Reset = m.reset
	case 2:
		if _, pointers := any(*new(T)).(cell); !pointers {
			m.o.Zero = dewpond.ZeroNever
		}
	}
	if in.below(2) == 1 {
		m.o.Check = dewpond.CheckAll
		m.o.OnViolation = func(v misuse.Violation) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.reports = append(m.reports, v)
		}
	}
	runtime.GOMAXPROCS(1 + in.below(4))
	m.say("of %T, %+v, GOMAXPROCS %d", of(0), m.o, runtime.GOMAXPROCS(0))
	if m.o.AllocRate > 0 {
		m.misses = missCredit{time.Second / time.Duration(m.o.AllocRate), time.Second, time.Now()}
	}
	m.p = newSlices(t, m.o)
	m.last = m.p.Stats()
	m.want.Classes = make([]dewpond.ClassStats, len(m.o.Classes))
	return m
}

func (m *slicesModel[T]) reset(s []T) {
	for i := range s {
		s[i] = m.of(resetStamp)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resets++
}

func (m *slicesModel[T]) step() {
	switch m.in.below(sliceOps) {
	case opSliceGet:
		if n := m.number(); len(m.out) < 40 {
			m.say("Get %d", n)
			m.take(m.p.Get(n), n, true)
		}
	case opSliceTryGet:
		if n := m.number(); len(m.out) < 40 {
			want := m.refusal(n)
			m.say("TryGet %d: %v", n, want)
			s, err := m.p.TryGet(n)
			m.tried(s, err, want, n)
		}
	case opSliceGetContext:
		m.getContext(m.number(), m.in.below(2) == 1)
	case opSlicePut:
		if x, length := takeOne(m.in, &m.out), m.in.next(); x != nil {
			m.say("Put %d", len(x.s))
			m.putBack(x, length%(len(x.s)+1))
		}
	case opSlicePutWrong:
		m.putWrong(m.in.below(5), m.in.next())
	case opSlicePutTwice:
		m.putTwice(takeOne(m.in, &m.out))
	case opSlicePutAndWrite:
		m.putAndWrite(takeOne(m.in, &m.out), m.in.next())
	case opSliceGrow, opSliceAppend:
		m.grow(takeOne(m.in, &m.out), m.in.next(), m.number(), m.in.below(3))
	case opSlicePrewarm:
		m.prewarm(m.number(), m.in.below(9))
	case opSliceTrim:
		m.say("Trim")
		before := m.p.Stats().IdleBytes
		if released := m.p.Trim(); released != before || m.p.Stats().IdleBytes != 0 {
			m.fail("Trim released %d bytes of %d", released, before)
		}
	case opSliceClose:
		if m.in.below(4) == 0 {
			m.close()
		}
	case opSliceRest:
		m.rest(oneOf(m.in, time.Nanosecond, 20*time.Millisecond, 200*time.Millisecond, time.Second, 10*time.Second, 4*time.Minute))
	case opSliceProcs:
		n := 1 + m.in.below(6)
		m.say("GOMAXPROCS %d", n)
		runtime.GOMAXPROCS(n)
	case opSliceBurst:
		m.burst(1+m.in.below(4), 1+m.in.below(12), m.number())
	case opSlicePutAll:
		m.putAll()
	}
}

// number is one near a class.
func (m *slicesModel[T]) number() int {
	n := m.in.next()
	return max(1, m.o.Classes[n/4%len(m.o.Classes)]+[]int{0, -1, 1, -4}[n%4])
}

// class returns the class of n elements, or -1 where n is larger than any.
func (m *slicesModel[T]) class(n int) int {
	return slices.IndexFunc(m.o.Classes, func(c int) bool { return n <= c })
}

func (m *slicesModel[T]) largest() int { return m.o.Classes[len(m.o.Classes)-1] }

func (m *slicesModel[T]) used() int64 {
	if m.o.Budget == nil {
		return 0
	}
	return m.o.Budget.Used()
}

// charge returns how many bytes n elements are charged with.
func (m *slicesModel[T]) charge(n int) int64 {
	if c := m.class(n); c >= 0 {
		n = m.o.Classes[c]
	}
	return int64(n * m.size)
}

func (m *slicesModel[T]) room(n int) bool {
	return m.o.Budget == nil || m.last.InUseBytes+m.large+m.charge(n) <= m.o.Budget.Limit()
}

// refusal is the error that TryGet must return.
func (m *slicesModel[T]) refusal(n int) error {
	c := m.class(n)
	switch {
	case m.closed:
		return dewpond.ErrClosed
	case c >= 0 && m.last.Classes[c].Idle > 0:
		return nil
	case c >= 0 && !m.misses.allows(1), !m.room(n):
		return dewpond.ErrExhausted
	}
	return nil
}

// take checks and counts what a Get of n elements has returned, and writes to all of it.
func (m *slicesModel[T]) take(s []T, n int, unasked bool) {
	m.t.Helper()
	now := m.p.Stats()
	missed, oversize := now.Misses-m.last.Misses, m.class(n) < 0
	switch {
	case oversize:
		m.want.Oversize++
		m.large += int64(cap(s) * m.size)
	case missed > 0 && m.o.AllocRate > 0 && !m.misses.take():
		if !unasked {
			m.fail("a miss past AllocRate")
		}
		m.want.OverAllocRate++
	}
	if over := now.OverBudget - m.last.OverBudget; over > 1 || over > 0 && !unasked {
		m.fail("a Get went past the Budget %d times", over)
	}
	want := n
	if !oversize {
		m.want.Classes[m.class(n)].Gets++
		want = m.o.Classes[m.class(n)]
	}
	if len(s) != n || cap(s) != want {
		m.fail("Get(%d) returned %d of %d elements, want a cap of %d", n, len(s), cap(s), want)
	}
	m.mustBeReady(s)
	m.keep(s)
}

// mustBeReady checks that a slice has nothing of an earlier owner.
func (m *slicesModel[T]) mustBeReady(s []T) {
	m.t.Helper()
	if m.o.Zero == dewpond.ZeroNever {
		return
	}
	var ready T // of a slice that is new, or cleared
	if s = s[:cap(s)]; m.o.Reset != nil && s[0] != ready {
		ready = m.of(resetStamp)
	}
	if i := slices.IndexFunc(s, func(v T) bool { return v != ready }); i >= 0 {
		m.fail("element %d of %d has what an earlier owner has left: %v", i, len(s), s[i])
	}
}

// keep makes a slice the user's.
func (m *slicesModel[T]) keep(s []T) {
	m.stamp++
	x := &heldSlice[T]{s[:cap(s)], m.stamp % resetStamp}
	for i := range x.s {
		x.s[i] = m.of(x.stamp)
	}
	m.out = append(m.out, x)
}

func (m *slicesModel[T]) mustBeIntact(x *heldSlice[T]) {
	m.t.Helper()
	want := m.of(x.stamp)
	if i := slices.IndexFunc(x.s, func(v T) bool { return v != want }); i >= 0 {
		m.fail("element %d of %d is somebody else's: %v, want %v", i, len(x.s), x.s[i], want)
	}
}

func (m *slicesModel[T]) tried(s []T, err, want error, n int) {
	m.t.Helper()
	switch {
	case !errors.Is(err, want), (s == nil) != (err != nil):
		m.fail("%v, want %v", err, want)
	case err == nil:
		m.take(s, n, false)
	case want != dewpond.ErrClosed:
		m.want.Refused++
	}
}

// getContext is cancelled, or waits for as long as a miss may take.
func (m *slicesModel[T]) getContext(n int, wait bool) {
	if len(m.out) >= 40 {
		return
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), 1500*time.Millisecond+1)
	defer cancel()
	want := m.refusal(n)
	if want == dewpond.ErrExhausted && (m.o.Budget == nil || m.charge(n) <= m.o.Budget.Limit()) {
		switch {
		case !wait:
			want = context.Canceled
		case !m.room(n):
			want = context.DeadlineExceeded
		default:
			want = nil
		}
	}
	if !wait {
		cancel()
	}
	m.say("GetContext %d, waiting %v: %v", n, wait, want)
	s, err := m.p.GetContext(ctx, n)
	m.tried(s, err, want, n)
}

// gaveBack counts a Put of what the pool has handed out.
func (m *slicesModel[T]) gaveBack(x *heldSlice[T]) {
	c := slices.Index(m.o.Classes, len(x.s))
	if c < 0 {
		m.want.Dropped.Oversize++
		m.large -= int64(len(x.s) * m.size)
		return
	}
	m.put++
	m.want.Classes[c].Puts++
	if m.closed {
		m.want.Dropped.Closed++
	}
}

func (m *slicesModel[T]) putBack(x *heldSlice[T], length int) {
	m.t.Helper()
	m.mustBeIntact(x)
	s := x.s[:length]
	m.p.Put(s)
	m.gaveBack(x)
}

func (m *slicesModel[T]) putAll() {
	m.say("Put all")
	for len(m.out) > 0 {
		x := m.out[0]
		m.out = m.out[1:]
		m.putBack(x, 0)
		m.check()
	}
}

// putWrong puts what the pool must refuse, and leave as it is.
func (m *slicesModel[T]) putWrong(what, from int) {
	var s []T
	switch what {
	case 0:
		m.p.Put(nil)
		return
	case 1:
		s = make([]T, from*37)
	case 2: // of a class, but made elsewhere
		s = make([]T, m.o.Classes[from%len(m.o.Classes)])
	case 3, 4:
		if len(m.out) == 0 {
			return
		}
		if s = m.out[from%len(m.out)].s; what == 3 {
			s = s[1:]
		} else {
			s = s[: len(s)-1 : len(s)-1]
		}
	}
	if slices.Contains(m.o.Classes, cap(s)) && m.o.Budget == nil && m.o.Check == dewpond.CheckOff {
		return // nobody sees that
	}
	m.say("Put wrongly, %d: cap %d", what, cap(s))
	was := slices.Clone(s)
	m.p.Put(s)
	if !slices.Equal(s, was) {
		m.fail("a slice that was refused has changed")
	}
	if cap(s) > m.largest() {
		m.want.Dropped.Oversize++
		return
	}
	m.want.Dropped.Foreign++
	m.offended()
}

// offended counts a violation where there are checks.
func (m *slicesModel[T]) offended() {
	if m.o.Check == dewpond.CheckAll {
		m.want.Violations++
	}
}

// putTwice puts a slice back once too often, while it is idle.
func (m *slicesModel[T]) putTwice(x *heldSlice[T]) {
	if x == nil {
		return
	}
	m.say("Put %d twice", len(x.s))
	m.putBack(x, len(x.s))
	m.check()
	if m.o.Check == dewpond.CheckOff || m.closed || m.class(len(x.s)) < 0 {
		return // nobody sees that
	}
	foreign := m.last.Dropped.Foreign
	m.p.Put(x.s)
	m.offended()
	if m.p.Stats().Dropped.Foreign > foreign { // the pool had no room for it
		m.want.Dropped.Foreign++
	} else {
		m.want.Dropped.Double++
	}
}

// putAndWrite writes to a slice that is idle.
func (m *slicesModel[T]) putAndWrite(x *heldSlice[T], at int) {
	if x == nil {
		return
	}
	m.say("Put %d and write", len(x.s))
	m.putBack(x, len(x.s))
	if m.o.Check == dewpond.CheckOff || m.closed || m.class(len(x.s)) < 0 {
		return
	}
	dropped := m.p.Stats().Dropped.Full > m.last.Dropped.Full
	m.check()
	before := len(m.reports)
	x.s[at*(len(x.s)-1)/255] = m.of(x.stamp + 1)
	m.p.Trim() // which looks at all that is idle
	switch {
	case len(m.reports) == before && dropped:
	case len(m.reports) == before+1 && m.reports[before].Kind == misuse.WriteAfterPut:
		m.offended()
	default:
		m.fail("of a write after Put is reported: %v", m.reports[before:])
	}
}

// grow grows a slice, or nil, of which a part is used: by Grow, by Append of others, or of
// its own elements.
func (m *slicesModel[T]) grow(x *heldSlice[T], used, more, how int) {
	var s []T
	if x != nil {
		m.mustBeIntact(x)
		s = x.s[:used*len(x.s)/255]
	}
	want, others := slices.Clone(s), make([]T, more)
	m.say("%d more to %d of %d, %d", more, len(s), cap(s), how)
	var grown []T
	switch how {
	case 0:
		grown = m.p.Grow(s, more)
	case 1:
		want = append(want, others...)
		grown = m.p.Append(s, others...)
	case 2:
		more = min(more, len(s))
		want = append(want, s[len(s)-more:]...)
		grown = m.p.Append(s, s[len(s)-more:]...)
	}
	n := len(s) + more
	switch {
	case !slices.Equal(grown, want) || cap(grown) < n:
		m.fail("%v of cap %d, want %v", grown, cap(grown), want)
	case cap(grown) == 0: // nothing was asked for
		return
	case x != nil && n <= len(x.s):
		if &grown[:1][0] != &x.s[0] {
			m.fail("growth to %d moved a slice of %d", n, len(x.s))
		}
		m.keep(grown)
		return
	}
	if m.class(n) < 0 {
		n = cap(grown) // Append leaves room
	}
	clear(grown) // so that take finds it as Get has left it
	if m.o.Reset != nil && grown[:cap(grown)][cap(grown)-1] != *new(T) {
		m.reset(grown)
		m.put++
	}
	m.take(grown[:n], n, true)
	if x != nil {
		m.gaveBack(x)
	}
}

func (m *slicesModel[T]) prewarm(n, count int) {
	c, before := m.class(n), m.p.Stats()
	m.say("Prewarm %d of %d", count, n)
	err := m.p.Prewarm(n, count)
	if c < 0 {
		if err == nil {
			m.fail("no error")
		}
		return
	}
	more := m.p.Stats().Classes[c].Idle - before.Classes[c].Idle
	if m.closed && err != dewpond.ErrClosed || !m.closed && (err == nil) != (more == count) || more < 0 || more > count {
		m.fail("%v; %d more are idle", err, more)
	}
}

func (m *slicesModel[T]) close() {
	m.say("Close")
	m.closed = true
	if err := m.p.Close(); err != nil {
		m.fail("Close: %v", err)
	}
}

func (m *slicesModel[T]) rest(d time.Duration) {
	m.say("rest %v", d)
	time.Sleep(d)
	synctest.Wait()
	timeout := m.o.IdleTimeout
	if timeout == 0 {
		timeout = time.Minute
	}
	if idle := m.p.Stats().IdleBytes; timeout > 0 && d > 3*timeout && idle > 0 {
		m.fail("%d bytes are idle after %v", idle, d)
	}
}

// burst lets several goroutines use the pool at once.
func (m *slicesModel[T]) burst(goroutines, each, n int) {
	c := m.class(n)
	if c < 0 || m.closed || m.o.AllocRate > 0 {
		return // what each of them gets cannot be told
	}
	m.say("%d goroutines Get and Put %d times", goroutines, each)
	var wg go125.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			var mine []*heldSlice[T]
			for i := range each {
				x := &heldSlice[T]{m.p.Get(n)[:m.o.Classes[c]], 1 + g*each + i}
				for i := range x.s {
					x.s[i] = m.of(x.stamp)
				}
				mine = append(mine, x)
				runtime.Gosched()
			}
			for _, x := range mine {
				if slices.ContainsFunc(x.s, func(v T) bool { return v != m.of(x.stamp) }) {
					m.t.Error("a slice has an element of another owner")
				}
				m.p.Put(x.s)
			}
		})
	}
	wg.Wait()
	if m.t.Failed() {
		m.fail("in the burst")
	}
	m.want.Classes[c].Gets += uint64(goroutines * each)
	m.want.Classes[c].Puts += uint64(goroutines * each)
	m.put += uint64(goroutines * each)
}

// check compares all that can be seen between two steps.
func (m *slicesModel[T]) check() {
	m.t.Helper()
	s, w := m.p.Stats(), m.want
	w.Gets, w.Puts = w.Oversize, w.Dropped.Oversize+w.Dropped.Foreign+w.Dropped.Double
	limit := m.o.MaxIdleBytes
	switch {
	case m.closed || limit == dewpond.NoIdle:
		limit = 0
	case limit == 0:
		limit = 64 << 20
	}
	var idle, inUse int64
	for c, got := range s.Classes {
		size := m.o.Classes[c] * m.size
		w.Gets += w.Classes[c].Gets
		w.Puts += w.Classes[c].Puts
		idle += int64(got.Idle * size)
		inUse += int64(w.Classes[c].Gets-w.Classes[c].Puts) * int64(size)
		if got.Size != size || got.Gets != w.Classes[c].Gets || got.Puts != w.Classes[c].Puts || got.Gets != got.Hits+got.Misses ||
			m.o.MaxIdlePerClass > 0 && got.Idle > m.o.MaxIdlePerClass {
			m.fail("%+v, want %+v", got, w.Classes[c])
		}
	}
	counts := func(s dewpond.Stats) [9]uint64 {
		return [...]uint64{s.Gets, s.Puts, s.Refused, s.OverAllocRate, s.Oversize, s.Dropped.Oversize, s.Dropped.Foreign, s.Dropped.Double, s.Dropped.Closed}
	}
	switch {
	case counts(s) != counts(w):
		m.fail("Gets, Puts, Refused, OverAllocRate, Oversize and dropped as Oversize, Foreign, Double, Closed:\n%v, want\n%v", counts(s), counts(w))
	case s.IdleBytes != idle || idle > limit || s.InUseBytes != inUse:
		m.fail("%d bytes are idle, by class %d, of at most %d; %d in use, want %d", s.IdleBytes, idle, limit, s.InUseBytes, inUse)
	case m.o.Budget != nil && m.used() != idle+inUse+m.large:
		m.fail("%d bytes are charged, %d are idle, %d in use, %d of no class", m.used(), idle, inUse, m.large)
	case s.Violations != w.Violations || len(m.reports) != int(w.Violations):
		m.fail("%d violations, %d reports, want %d: %v", s.Violations, len(m.reports), w.Violations, m.reports[max(0, len(m.reports)-2):])
	case m.o.Reset != nil && m.resets != int(m.put):
		m.fail("%d calls of Reset, want %d", m.resets, m.put)
	}
	m.last = s
	for _, x := range m.out {
		m.mustBeIntact(x)
	}
}
