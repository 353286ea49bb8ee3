package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/pressure"
)

// A heldBlock is what Get and its like returned, used is the part that is in use.
type heldBlock struct {
	*span
	held
	pool *pooledModel
	used int
}

// The operations on BytePools, in the order of their numbers in a script: one that is
// put between others changes what every script in testdata/fuzz does.
const (
	opGet = iota
	opTryGet
	opGetCancelled
	opGetDeadline
	opPut
	opPutWrong
	opPutTwice
	opGrow
	opAppend
	opPrewarm
	opTrim
	opClose
	opRest
	opPressure
	opProcs
	opBurst
	opBuffer
	opBufferWrite
	opBufferRead
	opBufferCut
	opBufferRelease
	opLease
	opTriedLease
	opRetain
	opRelease
	opReleaseStale
	opScope
	opScopeGet
	opScopeSlice
	opScopeClose
	opPutAll
	opPutMore
	opLeaseCancelled
	opLeaseOf
	opLeaseWrong
	opBufferLease
	opSlice
	opTruncate
	opLeaseBurst
	opTryBuffer
	opGetBatch
	opScopeTryGet
	opAdopt
	opBodyPoolGet
	opBodyPoolPut
	opReadAll
)

var poolOps = [...]func(m *poolsModel){
	opGet:           func(m *poolsModel) { m.get(m.aPool()) },
	opTryGet:        func(m *poolsModel) { m.tryGet(m.aPool()) },
	opGetCancelled:  func(m *poolsModel) { m.getCancelled(m.aPool()) },
	opGetDeadline:   func(m *poolsModel) { m.getDeadline(m.aPool()) },
	opPut:           func(m *poolsModel) { m.put() },
	opPutWrong:      func(m *poolsModel) { m.putWrong(m.aPool()) },
	opPutTwice:      func(m *poolsModel) { m.putTwice() },
	opGrow:          func(m *poolsModel) { m.grow(m.aPool()) },
	opAppend:        func(m *poolsModel) { m.append(m.aPool()) },
	opPrewarm:       func(m *poolsModel) { m.prewarm(m.aPool()) },
	opTrim:          func(m *poolsModel) { m.trim(m.aPool()) },
	opClose:         func(m *poolsModel) { m.close(m.aPool()) },
	opRest:          func(m *poolsModel) { m.rest() },
	opPressure:      func(m *poolsModel) { m.pressure() },
	opProcs:         func(m *poolsModel) { m.procs() },
	opBurst:         func(m *poolsModel) { m.burst(m.aPool()) },
	opBuffer:        func(m *poolsModel) { m.buffer(m.aPool()) },
	opBufferWrite:   func(m *poolsModel) { m.bufferWrite() },
	opBufferRead:    func(m *poolsModel) { m.bufferRead() },
	opBufferCut:     func(m *poolsModel) { m.bufferCut() },
	opBufferRelease: func(m *poolsModel) { m.bufferRelease() },
	opLease:         func(m *poolsModel) { m.lease(m.aPool()) },
	opTriedLease:    func(m *poolsModel) { m.triedLease(m.aPool()) },
	opRetain:        func(m *poolsModel) { m.retain() },
	opRelease:       func(m *poolsModel) { m.release() },
	opReleaseStale:  func(m *poolsModel) { m.releaseStale() },
	opScope:         func(m *poolsModel) { m.scope(m.aPool()) },
	opScopeGet:      func(m *poolsModel) { m.scopeGet() },
	opScopeSlice:    func(m *poolsModel) { m.scopeSlice() },
	opScopeClose:    func(m *poolsModel) { m.scopeClose() },
	opPutAll:        func(m *poolsModel) { m.putAll() },

	opPutMore:        func(m *poolsModel) { m.put() },
	opLeaseCancelled: func(m *poolsModel) { m.leaseCancelled(m.aPool()) },
	opLeaseOf:        func(m *poolsModel) { m.leaseOf() },
	opLeaseWrong:     func(m *poolsModel) { m.leaseWrong(m.aPool()) },
	opBufferLease:    func(m *poolsModel) { m.bufferLease() },
	opSlice:          func(m *poolsModel) { m.slice() },
	opTruncate:       func(m *poolsModel) { m.truncate() },
	opLeaseBurst:     func(m *poolsModel) { m.leaseBurst() },
	opTryBuffer:      func(m *poolsModel) { m.tryBuffer(m.aPool()) },
	opGetBatch:       func(m *poolsModel) { m.getBatch(m.aPool()) },
	opScopeTryGet:    func(m *poolsModel) { m.scopeTryGet() },
	opAdopt:          func(m *poolsModel) { m.adopt(m.aPool()) },
	opBodyPoolGet:    func(m *poolsModel) { m.hintGet(m.aPool()) },
	opBodyPoolPut:    func(m *poolsModel) { m.hintPut() },
	opReadAll:        func(m *poolsModel) { m.readAll(m.aPool()) },
}

// FuzzBytePool does what a script says with one or two BytePools, and all that hangs
// on them, and compares every step with a model.
//
//	go test -run '^$' -fuzz FuzzBytePool -fuzzminimizetime 20x .                            on the heap
//	go test -run '^$' -fuzz FuzzBytePool -fuzzminimizetime 20x . -dewpond.memory=offheap    off it
//
// Without the third flag the fuzzer spends a minute on each script that is new, for what
// runs differs a little each time. Scripts in testdata/fuzz are named by what they found.
func FuzzBytePool(f *testing.F) {
	notWatched(f, "its model of each Get knows no quarantine")
	fuzzPools(f, false, poolOps[:])
}

func fuzzPools(f *testing.F, checked bool, ops []func(m *poolsModel)) {
	addScripts(f, poolScripts...)
	f.Fuzz(func(t *testing.T, b []byte) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		defer dewpond.SetLevel(pressure.Low)
		synctest.Test(t, func(t *testing.T) {
			m := newPoolsModel(t, &script{b}, checked)
			for range scriptSteps {
				if m.in.ended() {
					break
				}
				ops[m.in.below(len(ops))](m)
				m.check()
			}
			m.end()
		})
	})
}

func (m *poolsModel) aPool() *pooledModel { return m.pools[m.in.below(len(m.pools))] }

// size is one near a class, or any.
func (p *pooledModel) size() int {
	n := p.m.in.next()
	if n == 255 {
		return 0
	}
	return max(0, p.o.Classes[n/4%len(p.o.Classes)]+[]int{0, -1, 1, -40}[n%4])
}

func (p *pooledModel) number() int { return slices.Index(p.m.pools, p) }

// keep writes to memory that Get and its like returned.
func (m *poolsModel) keep(p *pooledModel, b []byte, h held) *heldBlock {
	m.t.Helper()
	x := &heldBlock{span: m.claim(b), held: h, pool: p, used: len(b)}
	m.write(x.span)
	m.blocks = append(m.blocks, x)
	return x
}

func (m *poolsModel) crowded() bool { return len(m.spans) > 40 }

func (m *poolsModel) get(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	m.say("Get %d of %d", n, p.number())
	b := p.Get(n)
	m.keep(p, b, p.got(b, n, true))
}

// refusal is the error that TryGet must return, before it is called.
func (p *pooledModel) refusal(n int) error {
	c := p.class(n)
	switch {
	case p.closed:
		return dewpond.ErrClosed
	case n == 0:
		return nil
	case c < 0 && !p.m.room(n):
		return dewpond.ErrExhausted
	case c < 0 || p.last.Classes[c].Idle > 0:
		return nil
	case !p.misses.allows(1) || !p.m.room(p.o.Classes[c]):
		return dewpond.ErrExhausted
	}
	return nil
}

// tried checks what TryGet and its like have returned.
func (p *pooledModel) tried(b []byte, err, want error, n int) (h held, ok bool) {
	p.m.t.Helper()
	switch {
	case !errors.Is(err, want), (b == nil) != (err != nil):
		p.m.fail("%v, want %v", err, want)
	case err == nil:
		return p.got(b, n, false), true
	case want != dewpond.ErrClosed:
		p.want.Refused++
	}
	return held{}, false
}

func (p *pooledModel) keepTried(b []byte, err, want error, n int) {
	p.m.t.Helper()
	if h, ok := p.tried(b, err, want, n); ok {
		p.m.keep(p, b, h)
	}
}

// idleEverywhere is what must not change where a refusal lets nothing go.
func (m *poolsModel) idleEverywhere() (bytes int64) {
	for _, p := range m.pools {
		bytes += p.Stats().IdleBytes
	}
	return bytes
}

func (m *poolsModel) tryGet(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	want, idle := p.refusal(n), m.idleEverywhere()
	m.say("TryGet %d of %d: %v", n, p.number(), want)
	b, err := p.TryGet(n)
	p.keepTried(b, err, want, n)
	if err != nil && m.idleEverywhere() != idle {
		m.fail("TryGet let %d bytes go in vain", idle-m.idleEverywhere())
	}
}

// tooLarge is whether the budget never has room for a block for n bytes.
func (p *pooledModel) tooLarge(n int) bool {
	return p.m.budget != nil && int64(p.charge(n)) > p.m.budget.Limit()
}

// charge is what a Get of n bytes is charged with.
func (p *pooledModel) charge(n int) int {
	if c := p.class(n); c >= 0 {
		return p.o.Classes[c]
	}
	return n
}

func (m *poolsModel) getCancelled(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	ctx, cancel := context.WithCancel(m.t.Context())
	cancel()
	want := p.refusal(n)
	if want == dewpond.ErrExhausted && !p.tooLarge(n) {
		want = context.Canceled
	}
	m.say("GetContext %d of %d, cancelled: %v", n, p.number(), want)
	b, err := p.GetContext(ctx, n)
	p.keepTried(b, err, want, n)
}

// getDeadline waits for as long as a miss may take, which is a second.
func (m *poolsModel) getDeadline(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), 1500*time.Millisecond+1)
	defer cancel()
	want := p.refusal(n)
	if want == dewpond.ErrExhausted && !p.tooLarge(n) {
		want = nil
		if !m.room(p.charge(n)) {
			want = context.DeadlineExceeded
		}
	}
	m.say("GetContext %d of %d, with a deadline: %v", n, p.number(), want)
	b, err := p.GetContext(ctx, n)
	p.keepTried(b, err, want, n)
}

// getBatch gets several blocks, with a context that is done, or waits for as long as their
// misses may take.
func (m *poolsModel) getBatch(p *pooledModel) {
	n, count, waits := p.size(), 1+m.in.below(6), m.in.below(2) == 1
	if m.crowded() {
		return
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), 1500*time.Millisecond+1)
	defer cancel()
	if !waits {
		cancel()
	}
	want := p.batchRefusal(ctx, n, count)
	m.say("GetBatch of %d of %d of %d, waits %v: %v", count, n, p.number(), waits, want)
	blocks := make([][]byte, count)
	err := p.GetBatch(ctx, blocks, n)
	switch {
	case !errors.Is(err, want):
		m.fail("%v, want %v", err, want)
	case err == nil:
		m.gotBatch(p, blocks, n)
		return
	case slices.ContainsFunc(blocks, func(b []byte) bool { return b != nil }):
		m.fail("%v, and %v", err, blocks)
	}
	if want != dewpond.ErrClosed {
		p.want.Refused++
	}
	if c := p.class(n); c >= 0 && n > 0 { // what it had is put back
		had := p.Stats().Classes[c].Gets - p.last.Classes[c].Gets
		if had >= uint64(count) {
			m.fail("GetBatch got %d of %d blocks, and %v", had, count, err)
		}
		p.want.Classes[c].Gets += had
		p.want.Classes[c].Puts += had
		p.putSizes = slices.Repeat([]int{p.o.Classes[c]}, int(had))
	}
}

// batchRefusal is the error that GetBatch must return, before it is called.
func (p *pooledModel) batchRefusal(ctx context.Context, n, count int) error {
	c, lacks := p.class(n), 0
	if c >= 0 {
		lacks = max(0, count-p.last.Classes[c].Idle)
	}
	room := p.m.room(count * p.charge(n))
	switch limited := c >= 0 && lacks > 0 && !p.misses.allows(lacks); {
	case p.closed:
		return dewpond.ErrClosed
	case n == 0:
		return nil
	case p.m.budget != nil && int64(count*p.charge(n)) > p.m.budget.Limit():
		return dewpond.ErrExhausted
	case c >= 0 && lacks == 0, room && !limited:
		return nil
	case c >= 0 && p.o.AllocRate > 0 && count > p.o.AllocRate:
		return dewpond.ErrExhausted
	case ctx.Err() != nil:
		return ctx.Err()
	case !room:
		return context.DeadlineExceeded
	}
	return nil
}

// gotBatch checks and counts what GetBatch has returned.
func (m *poolsModel) gotBatch(p *pooledModel, blocks [][]byte, n int) {
	m.t.Helper()
	if n == 0 {
		for _, b := range blocks {
			m.keep(p, b, p.got(b, n, false))
		}
		return
	}
	h := held{p.charge(n), ofClass}
	now := p.Stats()
	missed := now.Misses - p.last.Misses
	switch c := p.class(n); {
	case c < 0:
		h.kind = oversize
		p.want.Oversize += uint64(len(blocks))
		p.large += int64(n * len(blocks))
	default:
		p.want.Classes[c].Gets += uint64(len(blocks))
		p.inUse += int64(h.size * len(blocks))
		p.out += len(blocks)
	}
	for range missed {
		if p.misses.interval > 0 && !p.misses.take() {
			m.fail("a miss past AllocRate")
		}
	}
	if now.OverBudget != p.last.OverBudget || missed > uint64(len(blocks)) || missed > 0 && m.budget != nil && m.used() > m.budget.Limit() {
		m.fail("%d misses, past the budget %d times; %d are used", missed, now.OverBudget-p.last.OverBudget, m.used())
	}
	for _, b := range blocks {
		if len(b) != n || cap(b) != h.size {
			m.fail("GetBatch for %d bytes returned %d of %d", n, len(b), cap(b))
		}
		if p.o.Zero != dewpond.ZeroNever || h.kind == oversize {
			mustBeZero(m, b[:cap(b)])
		}
		m.keep(p, b, h)
	}
}

// takeOut chooses a block that the user holds, or nil, and takes it from the user.
func (m *poolsModel) takeOut() *heldBlock { return takeOne(m.in, &m.blocks) }

func (m *poolsModel) put() {
	x, length := m.takeOut(), m.in.next()
	if x == nil {
		return
	}
	m.say("Put %d to %d", x.size, x.pool.number())
	m.putBlock(x, length%(len(x.b)+1))
}

func (m *poolsModel) putBlock(x *heldBlock, length int) {
	m.t.Helper()
	m.putBlockBy(x, length, x.pool.Put)
}

func (m *poolsModel) putBlockBy(x *heldBlock, length int, put func(b []byte)) {
	m.t.Helper()
	m.unclaim(x.span)
	overdrawn, idle := m.budget != nil && m.used() > m.budget.Limit(), m.idleEverywhere()
	put(x.b[:length])
	x.pool.gaveBack(x.held)
	if overdrawn && m.idleEverywhere() > idle {
		m.fail("a block of %d bytes is kept past the budget", x.size)
	}
}

func (m *poolsModel) putAll() {
	m.say("Put all")
	for len(m.blocks) > 0 {
		m.putBlock(m.blocks[0], 0)
		m.blocks = m.blocks[1:]
		m.check()
	}
}

// putWrong puts what the pool must refuse, of all that some pool would not see.
func (m *poolsModel) putWrong(p *pooledModel) {
	b, seen := m.wrongSlice(p)
	if !seen {
		return
	}
	m.say("Put to %d wrongly: cap %d", p.number(), cap(b))
	p.Put(b)
	p.gaveBack(stranger(b))
}

// stranger is what wrongSlice has returned.
func stranger(b []byte) held {
	if cap(b) == 0 { // Put ignores that
		return held{0, empty}
	}
	return held{cap(b), foreign}
}

// wrongSlice returns what Put must refuse, and whether it is to be seen.
func (m *poolsModel) wrongSlice(p *pooledModel) (b []byte, seen bool) {
	what, from := m.in.below(6), m.in.next()
	switch what {
	case 0:
		b = make([]byte, from*37)
	case 1: // where a block can begin, and where none can
		size, at := p.o.Classes[from%len(p.o.Classes)], from/len(p.o.Classes)%16
		b = make([]byte, size+16)[at:][:size:size]
	case 2, 3, 4:
		if len(m.blocks) == 0 {
			return nil, false
		}
		x := m.blocks[from%len(m.blocks)]
		at := min(len(x.b), 1+16*m.in.next())
		switch what {
		case 2:
			b = x.b[at:]
		case 3:
			b = x.b[: len(x.b)-at : len(x.b)-at]
		case 4: // of another pool
			if b = x.b; x.pool == p {
				return nil, false
			}
		}
	}
	aBlock := slices.Contains(p.o.Classes, cap(b)) && addressOf(b)%16 == 0
	return b, !aBlock || offHeap || m.checked || m.budget != nil
}

// putTwice puts a block back once too often, while it is idle.
func (m *poolsModel) putTwice() {
	if !offHeap && !m.checked {
		return // that cannot be seen
	}
	x := m.takeOut()
	if x == nil {
		return
	}
	m.say("Put %d twice to %d", x.size, x.pool.number())
	m.putBlock(x, len(x.b))
	m.check()
	if x.kind != ofClass || x.pool.closed {
		return
	}
	p, foreign := x.pool, x.pool.last.Dropped.Foreign
	p.Put(x.b)
	p.offended()
	if m.checked && p.Stats().Dropped.Foreign > foreign { // the pool had no room for it
		p.want.Dropped.Foreign++
	} else {
		p.want.Dropped.Double++
	}
}

// grow grows a block, or nil, whatever part of it is used.
func (m *poolsModel) grow(p *pooledModel) {
	x, used := m.takeOut(), m.in.next()
	more := p.size()
	if x != nil {
		p = x.pool
	}
	b, before := m.forGrowth(x, used)
	m.say("Grow %d of %d in %d by %d", len(b), cap(b), p.number(), more)
	grown := p.Grow(b, more)
	if cap(grown)-len(b) < more {
		m.fail("Grow by %d returned %d of %d bytes", more, len(grown), cap(grown))
	}
	m.grew(p, x, grown, before, len(b)+more)
}

// append appends what is elsewhere, or part of the block itself.
func (m *poolsModel) append(p *pooledModel) {
	x, used := m.takeOut(), m.in.next()
	more := make([]byte, p.size())
	if x != nil {
		p = x.pool
	}
	b, before := m.forGrowth(x, used)
	for i := range more {
		more[i] = byte(i)
	}
	if own := m.in.below(2) == 1; own && 0 < len(b) && len(b) < 1<<18 { // else it would soon be all of memory
		more = b[len(b)/3:]
	}
	m.say("Append %d to %d of %d in %d", len(more), len(b), cap(b), p.number())
	before = slices.Concat(before, more)
	m.grew(p, x, p.Append(b, more...), before, len(before))
}

// readAll reads what says how much it is, for which one Get will do.
func (m *poolsModel) readAll(p *pooledModel) {
	n, fails := p.size(), m.in.below(3) == 0
	if m.crowded() {
		return
	}
	m.say("ReadAll %d in %d, fails %v", n, p.number(), fails)
	text, want := bytes.Repeat([]byte{'r'}, n), error(nil)
	r := sizedReader{bytes.NewReader(text), n}
	if fails {
		want = io.ErrUnexpectedEOF
		r.Reader = io.MultiReader(r.Reader, iotest.ErrReader(want))
	}
	b, err := p.ReadAll(r)
	asked := n + 1
	switch n {
	case 0:
		asked = 512
	case p.largest():
		asked = n
	}
	h := p.counted(asked, true)
	if !bytes.Equal(b, text) || cap(b) != h.size || err != want {
		m.fail("ReadAll returned %d of %d bytes, %v", len(b), cap(b), err)
	}
	if p.o.Zero != dewpond.ZeroNever {
		mustBeZero(m, b[len(b):cap(b)])
	}
	m.keep(p, b, h)
}

// forGrowth returns the used part of a block, and a copy.
func (m *poolsModel) forGrowth(x *heldBlock, used int) (b, copied []byte) {
	if x == nil {
		return nil, nil
	}
	m.mustBeIntact(x.span)
	b = x.b[:used*len(x.b)/255]
	return b, slices.Clone(b)
}

// grew checks what Grow and Append returned for a block, or nil, that has needed n bytes.
func (m *poolsModel) grew(p *pooledModel, x *heldBlock, grown, want []byte, n int) {
	m.t.Helper()
	if !slices.Equal(grown, want) {
		m.fail("%d bytes after growth are not the %d that they should be", len(grown), len(want))
	}
	switch {
	case x != nil && n <= len(x.b):
		if unsafe.SliceData(grown) != unsafe.SliceData(x.b) {
			m.fail("growth to %d moved a block of %d", n, len(x.b))
		}
		m.write(x.span)
		m.blocks = append(m.blocks, x)
		return
	case cap(grown) == 0: // nothing was asked for
		return
	}
	if x != nil {
		x.stamp = 0 // Put has cleared it, maybe
		m.unclaim(x.span)
	}
	m.growing = true
	h := p.counted(max(n, cap(grown)), true)
	m.growing = false
	if h.kind != oversize && n > p.o.Classes[p.class(cap(grown))] || cap(grown) != h.size {
		m.fail("growth to %d returned a cap of %d", n, cap(grown))
	}
	if c := p.class(n); c >= 0 && h.size != p.o.Classes[c] {
		m.fail("growth to %d took %d bytes", n, h.size)
	}
	if x != nil {
		p.gaveBack(x.held)
	}
	m.keep(p, grown, h)
}

// burst lets several goroutines use a pool at once.
func (m *poolsModel) burst(p *pooledModel) {
	goroutines, each, n := 1+m.in.below(4), 1+m.in.below(12), p.size()
	c := p.class(n)
	if p.closed || p.o.AllocRate > 0 || c < 0 || n == 0 {
		return // what each of them gets cannot be told
	}
	m.say("%d goroutines Get %d of %d, %d times, and Put", goroutines, n, p.number(), each)
	var wg go125.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			var mine []*span
			for i := range each {
				s := &span{b: p.Get(n)[:p.o.Classes[c]], stamp: byte(1 + g*each + i)}
				if p.o.Zero != dewpond.ZeroNever && slices.ContainsFunc(s.b, func(b byte) bool { return b != 0 }) {
					m.t.Error("a block still has bytes of an earlier owner's")
				}
				for i := range s.b {
					s.b[i] = s.stamp
				}
				mine = append(mine, s)
				runtime.Gosched()
			}
			for _, s := range mine {
				if slices.ContainsFunc(s.b, func(b byte) bool { return b != s.stamp }) {
					m.t.Error("a block was written to by another owner")
				}
				p.Put(s.b)
			}
		})
	}
	wg.Wait()
	if m.t.Failed() {
		m.fail("in the burst")
	}
	p.want.Classes[c].Gets += uint64(goroutines * each)
	p.want.Classes[c].Puts += uint64(goroutines * each)
	p.putSizes = slices.Repeat([]int{p.o.Classes[c]}, goroutines*each)
}

// What a poolsModel does with Adopt and with a BodyPool.

// A pooledBody is what a BodyPool has handed out.
type pooledBody struct {
	*span
	pool *pooledModel
}

// lostBytes is what is charged for blocks that bodies have outgrown.
func (m *poolsModel) lostBytes() (bytes int64) {
	if m.budget != nil {
		for _, s := range m.lost {
			bytes += int64(len(s.b))
		}
	}
	return bytes
}

// knowsOwn is whether the pools take their own blocks for what they are.
func (m *poolsModel) knowsOwn() bool { return m.checked || m.budget != nil }

func (m *poolsModel) adopt(p *pooledModel) {
	n := p.size() + 17*m.in.below(3)
	odd := 8 * m.in.below(2)
	m.say("Adopt %d bytes, %d off, to %d", n, odd, p.number())
	p.adopts(n, odd, p.Adopt)
}

// adopts lets a pool adopt what is made here, and counts what it must do with it.
func (p *pooledModel) adopts(n, odd int, adopt func([]byte)) {
	b := make([]byte, n+odd)[odd:]
	used := p.m.used()
	adopt(b)
	floor, exact := slices.BinarySearch(p.o.Classes, n)
	if !exact {
		floor--
	}
	switch {
	case n == 0:
	case n > p.largest():
		p.want.Dropped.Oversize++
	case offHeap:
		p.want.Dropped.Foreign++
		p.offended()
	case floor < 0 || n > 2*p.o.Classes[floor] || addressOf(b)%16 != 0:
		p.want.Dropped.Foreign++
	default:
		size := p.o.Classes[floor]
		p.noRoom = p.m.budget != nil && !p.closed && used+int64(size) > p.m.budget.Limit()
		if !p.noRoom {
			p.want.Adopted++
		}
		p.gotBack(floor)
	}
}

// gotBack counts the Put of a block that was not the user's by the pool's count.
func (p *pooledModel) gotBack(class int) {
	p.want.Classes[class].Puts++
	p.putSizes = append(p.putSizes, p.o.Classes[class])
	if p.closed {
		p.want.Dropped.Closed++
	}
}

func (m *poolsModel) hintGet(p *pooledModel) {
	if offHeap || m.crowded() {
		return
	}
	if p.hint == nil {
		p.hint = p.Bodies()
	}
	m.say("Get from the BodyPool of %d", p.number())
	size := dewpond.BodySize(p.hint)
	b := p.hint.Get()
	h := p.counted(cap(b), true)
	if len(b) != 0 || cap(b) != h.size || h.size < size || h.size > 2*size || h.kind != ofClass {
		m.fail("a BodyPool of %d bytes returned %d of %d", size, len(b), cap(b))
	}
	if p.o.Zero != dewpond.ZeroNever {
		mustBeZero(m, b[:cap(b)])
	}
	p.inUse -= int64(h.size) // the BodyPool has it
	p.out--
	p.hintOut++
	p.hinted += int64(h.size)
	x := &pooledBody{m.claim(b), p}
	m.write(x.span)
	m.bodies = append(m.bodies, x)
}

// hintPut puts back a body, or one that has outgrown its block.
func (m *poolsModel) hintPut() {
	x, grown := takeOne(m.in, &m.bodies), m.in.below(2) == 1
	if x == nil {
		return
	}
	p, size := x.pool, len(x.b)
	m.unclaim(x.span)
	p.hintOut--
	p.hinted -= int64(size)
	if !grown {
		m.say("Put %d to the BodyPool of %d", size, p.number())
		p.hint.Put(x.b)
		if !m.knowsOwn() {
			p.want.Adopted++
		}
		p.gotBack(p.class(size))
		return
	}
	m.lost = append(m.lost, x.span)
	n := size + 1 + m.in.next()*m.in.next()
	m.say("Put %d that has outgrown %d to the BodyPool of %d", n, size, p.number())
	p.adopts(n, 0, p.hint.Put)
}

// FuzzCheckedBytePool is FuzzBytePool with CheckAll: of all that a script does, misuse is
// reported, each once, and nothing else.
//
//	go test -run '^$' -fuzz FuzzCheckedBytePool -fuzzminimizetime 20x .
func FuzzCheckedBytePool(f *testing.F) {
	addScripts(f,
		slices.Concat([][]byte{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), plainScript()}, checkedScript()),
		[][]byte{onePool(0, 2), aKind(0, 0, 0, 0, 0, 0), leaseScript()},
		slices.Concat([][]byte{twoPools(2, 2), aKind(1, 0, 0, 2, 0, 2), aKind(0, 2, 2, 1, 3, 0)}, checkedScript(), [][]byte{handleScript()}),
		slices.Concat([][]byte{onePool(2, 2), aKind(0, 0, 0, 0, 0, 0), adoptScript()}, checkedScript(), [][]byte{adoptScript()}),
	)
	fuzzPools(f, true, append(slices.Clone(poolOps[:]), (*poolsModel).putAndWrite, (*poolsModel).lookAround))
}

// What FuzzCheckedBytePool does besides.
const (
	opPutAndWrite = byte(len(poolOps)) + iota
	opLookAround
)

func checkedScript() [][]byte {
	return [][]byte{{
		opGet, 0, 0, opGet, 0, 4, opGet, 0, 0, opGet, 0, 12, opGet, 1, 0, opGet, 1, 4,
		opPutAndWrite, 0, 0, opPutAndWrite, 255, 0, opPutAndWrite, 99, 0, opLookAround, opPutTwice, 0, opPutWrong, 0, 2, 0, 3,
		opPutWrong, 0, 1, 0, opPutWrong, 1, 4, 0, opPutWrong, 0, 4, 0, opPutAll, opLookAround, opRest, 5, opLookAround,
		opGet, 0, 12, opGet, 0, 12, opPutAndWrite, 7, 1, opPutAndWrite, 200, 0,
	}}
}

// offended counts a violation, where the pools are checked.
func (p *pooledModel) offended() {
	if p.m.checked {
		p.want.Violations++
	}
}

// counted is how many misuses violations report: one may be of several leaks.
func counted(all []misuse.Violation) (n int) {
	for _, v := range all {
		n += v.Count
	}
	return n
}

// putAndWrite writes to a block after its Put. Off the heap that may fault.
func (m *poolsModel) putAndWrite() {
	at := m.in.next()
	x := m.takeOut()
	switch {
	case x == nil:
		return
	case offHeap || x.kind != ofClass || x.pool.closed:
		m.putBlock(x, 0)
		return
	}
	p := x.pool
	m.say("Put %d to %d and write", x.size, p.number())
	m.putBlock(x, len(x.b))
	dropped := p.Stats().Dropped.Full > p.last.Dropped.Full // this block, or one that it drove out of quarantine
	m.check()
	before := len(p.reported())
	x.b[at*(len(x.b)-1)/255]++
	p.trimmed = true
	p.Trim() // which looks at all that is idle
	switch all := p.reported(); {
	case len(all) == before && dropped:
	case len(all) == before+1 && all[before].Kind == misuse.WriteAfterPut:
		p.offended()
	default:
		m.fail("of a write after Put is reported: %v", all[before:])
	}
}

// lookAround checks that a pool of which nothing is in use has no leaks.
func (m *poolsModel) lookAround() {
	m.say("ReportLeaks")
	for _, p := range m.pools {
		if p.inUse == 0 && p.hintOut == 0 && dewtest.ReportLeaks(p) != 0 {
			m.fail("leaks of pool %d, of which nothing is in use", p.number())
		}
	}
}
