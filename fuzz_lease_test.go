package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// What a poolsModel does with Leases: who owns which part of which block, however it
// became a Lease, and that the block goes back once, whole, with its last owner.

// A heldLease is a block that has some owners, and had others.
type heldLease struct {
	*span
	held
	pool   *pooledModel
	owners [][]leasePart
}

// A leasePart is one of an owner's leases, which Truncate makes, and the part of the
// block that it has.
type leasePart struct {
	dewpond.Lease
	from, n, cap int
}

// keepLease makes the first owner of memory that the user has claimed.
func (m *poolsModel) keepLease(p *pooledModel, s *span, h held, part leasePart) {
	m.t.Helper()
	m.write(s)
	m.leases = append(m.leases, &heldLease{span: s, held: h, pool: p, owners: [][]leasePart{{part}}})
	m.leasesMustBeValid()
}

// keepNewLease makes the first owner of what a Lease of n bytes has handed out.
func (m *poolsModel) keepNewLease(p *pooledModel, l dewpond.Lease, n int, h held) {
	m.t.Helper()
	m.keepLease(p, m.claim(l.Bytes()), h, leasePart{l, 0, n, h.size})
}

func (m *poolsModel) lease(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	m.say("Lease %d of %d", n, p.number())
	l := p.Lease(n)
	m.keepNewLease(p, l, n, p.got(l.Bytes(), n, true))
}

// triedLease leases what TryGet returns.
func (m *poolsModel) triedLease(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	want := p.refusal(n)
	m.say("TryGet %d of %d for a Lease: %v", n, p.number(), want)
	b, err := p.TryGet(n)
	var l dewpond.Lease
	if err == nil {
		l = p.LeaseOf(b)
	}
	m.keepTriedLease(p, l, err, want, n)
}

func (m *poolsModel) keepTriedLease(p *pooledModel, l dewpond.Lease, err, want error, n int) {
	m.t.Helper()
	var b []byte
	if err == nil {
		b = l.Bytes()
	}
	if h, ok := p.tried(b, err, want, n); ok {
		m.keepNewLease(p, l, n, h)
	}
}

func (m *poolsModel) leaseCancelled(p *pooledModel) {
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
	m.say("LeaseContext %d of %d, cancelled: %v", n, p.number(), want)
	l, err := p.LeaseContext(ctx, n)
	m.keepTriedLease(p, l, err, want, n)
}

// leaseOf makes a Lease of a block, whatever part of it is used.
func (m *poolsModel) leaseOf() {
	x, used := m.takeOut(), m.in.next()
	if x == nil {
		return
	}
	n := used * len(x.b) / 255
	m.say("LeaseOf %d of a block of %d of %d", n, x.size, x.pool.number())
	m.mustBeIntact(x.span)
	m.keepLease(x.pool, x.span, x.held, leasePart{x.pool.LeaseOf(x.b[:n]), 0, n, len(x.b)})
}

// leaseWrong makes a Lease of what Put must refuse, and has two owners release it.
func (m *poolsModel) leaseWrong(p *pooledModel) {
	b, seen := m.wrongSlice(p)
	if !seen {
		return
	}
	n := len(b) / 2
	m.say("LeaseOf %d of %d of what %d does not know", n, cap(b), p.number())
	l := p.LeaseOf(b[:n])
	part := l.Slice(n/2, n)
	if got := l.Bytes(); len(got) != n || cap(got) != cap(b) || unsafe.SliceData(got) != unsafe.SliceData(b) {
		m.fail("the Lease has %d of %d bytes", len(got), cap(got))
	}
	if got := part.Bytes(); len(got) != n-n/2 || cap(got) != len(got) {
		m.fail("the part has %d of %d bytes", len(got), cap(got))
	}
	for _, l := range []dewpond.Lease{l, part} {
		if err := dewpond.Release(l); err != nil {
			m.fail("Release: %v", err)
		}
		m.spent(l, p)
	}
	p.gaveBack(stranger(b))
}

// bufferLease takes the unread part of a Buffer, with its block or one that fits.
func (m *poolsModel) bufferLease() {
	x := m.aBuffer()
	if x == nil || m.crowded() {
		return
	}
	m.say("Lease of a Buffer of %d, of %d", x.Len(), x.pool.number())
	p, s, h, n := x.pool, x.block, x.held, x.Len()
	tooLarge, charged := p.isTooLarge(x.Cap(), n), m.used()
	l := x.Lease()
	b := l.Bytes()
	if !bytes.Equal(b, x.same.Bytes()) {
		m.fail("the Lease of a Buffer has %d bytes, which are not the %d that it should have", len(b), n)
	}
	fitting, copied := p.handedOut(0, false)
	switch {
	case copied && (!tooLarge || fitting.size != p.charge(n)):
		m.fail("the Lease of a Buffer copies %d bytes from a block of %d to one of %d", n, h.size, fitting.size)
	case tooLarge && !copied && !p.closed && p.misses.allows(1) && (m.budget == nil || charged+int64(p.charge(n)) <= m.budget.Limit()):
		m.fail("the Lease of a Buffer keeps a block of %d for %d bytes", h.size, n)
	case copied, n == 0:
		if s != nil {
			m.unclaim(s)
			p.gaveBack(h)
		}
		s, h = m.claim(unsafe.Slice(unsafe.SliceData(b), fitting.size)), held{0, empty}
		if copied {
			h = fitting
		}
	}
	from := 0
	if len(b) > 0 {
		from = int(addressOf(b) - s.from())
	}
	if len(b) > 0 && (addressOf(b) < s.from() || from+len(b) > len(s.b)) {
		m.fail("the Lease of a Buffer begins at %d of its block of %d", from, len(s.b))
	}
	x.block = nil
	x.same.Reset()
	if x.Len() != 0 || x.Cap() != 0 || !dewpond.LimitIsRight(x.Buffer) {
		m.fail("a Buffer has %d bytes of %d after its Lease", x.Len(), x.Cap())
	}
	m.keepLease(p, s, h, leasePart{l, from, len(b), len(b)})
}

// isTooLarge is whether a Lease of n bytes is not to keep a block of size bytes.
func (p *pooledModel) isTooLarge(size, n int) bool {
	c := p.class(n)
	if n == 0 || c < 0 {
		return false
	}
	return size > 2*p.o.Classes[c] || c+1 < len(p.o.Classes) && size > p.o.Classes[c+1]
}

// aLease chooses an owner, and one of its leases.
func (m *poolsModel) aLease() (x *heldLease, owner, which int) {
	i, j := m.in.next(), m.in.next()
	if len(m.leases) == 0 {
		return nil, 0, 0
	}
	x = m.leases[i%len(m.leases)]
	owner = j % len(x.owners)
	return x, owner, j / len(x.owners) % len(x.owners[owner])
}

// crowded is whether a block has owners enough.
func (x *heldLease) crowded() bool { return len(x.owners) > 5 }

func (m *poolsModel) retain() {
	x, i, k := m.aLease()
	if x == nil || x.crowded() {
		return
	}
	part := x.owners[i][k]
	m.say("Retain a Lease of %d", part.n)
	part.Lease = part.Retain()
	x.owners = append(x.owners, []leasePart{part})
	m.leasesMustBeValid()
}

// slice makes an owner of a part, or asks for what is none.
func (m *poolsModel) slice() {
	x, i, k := m.aLease()
	from, to := m.in.next(), m.in.next()
	if x == nil || x.crowded() {
		return
	}
	part := x.owners[i][k]
	from, to = from*part.n/255, to*part.n/250 // which may be past its end
	m.say("Slice(%d, %d) of a Lease of %d of %d", from, to, part.n, x.size)
	if from > to || to > part.n {
		m.mustPanic("Slice out of range", func() { part.Slice(from, to) })
		return
	}
	x.owners = append(x.owners, []leasePart{{part.Slice(from, to), part.from + from, to - from, to - from}})
	m.leasesMustBeValid()
}

// truncate gives an owner a shorter lease besides, or asks for a longer one.
func (m *poolsModel) truncate() {
	x, i, k := m.aLease()
	n := m.in.next()
	if x == nil || len(x.owners[i]) > 3 {
		return
	}
	part := x.owners[i][k]
	n = n * part.n / 250
	m.say("Truncate to %d a Lease of %d of %d", n, part.n, x.size)
	if n > part.n {
		m.mustPanic("Truncate out of range", func() { part.Truncate(n) })
		return
	}
	x.owners[i] = append(x.owners[i], leasePart{part.Truncate(n), part.from, n, n})
	m.leasesMustBeValid()
}

// leasesMustBeValid looks at every lease of every owner.
func (m *poolsModel) leasesMustBeValid() {
	m.t.Helper()
	for _, x := range m.leases {
		for _, parts := range x.owners {
			for _, part := range parts {
				b := part.Bytes()
				at := int(addressOf(b) - x.from())
				right := at == part.from
				if cap(b) == 0 { // it points somewhere into the block, not behind it
					right = at >= 0 && at < max(1, len(x.b))
				}
				if len(b) != part.n || cap(b) != part.cap || part.Len() != part.n || !right {
					m.fail("a Lease of %d to %d of %d bytes has %d of %d, which begin at %d", part.from, part.from+part.n, len(x.b), len(b), cap(b), at)
				}
			}
		}
	}
}

func (m *poolsModel) release() {
	x, i, k := m.aLease()
	if x == nil {
		return
	}
	parts := x.owners[i]
	m.say("Release a Lease of %d of %d, which has %d owners", parts[k].n, x.size, len(x.owners))
	m.disown(x, i)
	if err := dewpond.Release(parts[k].Lease); err != nil {
		m.fail("Release: %v", err)
	}
	for _, part := range parts {
		m.spent(part.Lease, x.pool)
	}
	m.leasesMustBeValid()
}

// disown takes an owner from a block before its Release, which is the last one's Put.
func (m *poolsModel) disown(x *heldLease, owner int) {
	m.t.Helper()
	x.owners = slices.Delete(x.owners, owner, owner+1)
	if len(x.owners) > 0 {
		return
	}
	m.unclaim(x.span)
	m.leases = slices.DeleteFunc(m.leases, func(other *heldLease) bool { return other == x })
	x.pool.gaveBack(x.held)
}

// spent keeps some of the leases whose owners have released.
func (m *poolsModel) spent(l dewpond.Lease, p *pooledModel) {
	m.stale = append(m.stale, staleLease{l, p})
	m.stale = m.stale[max(0, len(m.stale)-8):]
}

// A staleLease is one whose owner has released, and its pool.
type staleLease struct {
	dewpond.Lease
	pool *pooledModel
}

// releaseStale does all that can be done with a Lease that was released.
func (m *poolsModel) releaseStale() {
	i := m.in.next()
	if len(m.stale) == 0 {
		return
	}
	l := m.stale[i%len(m.stale)]
	m.say("Release a Lease of %d again", l.Len())
	if err := dewpond.Release(l.Lease); err != dewpond.ErrReleased {
		m.fail("a second Release: %v", err)
	}
	l.pool.want.DoubleReleases++
	l.pool.offended()
	m.mustPanic("Bytes of a stale Lease", func() { l.Bytes() })
	m.mustPanic("Retain of a stale Lease", func() { l.Retain() })
	m.mustPanic("Slice of a stale Lease", func() { l.Slice(0, 0) })
	m.mustPanic("Truncate of a stale Lease", func() { l.Truncate(0) })
	m.leasesMustBeValid()
}

// leaseBurst lets several goroutines use parts of one block at once, and all leases of an
// owner be released at once, of whom one alone may.
func (m *poolsModel) leaseBurst() {
	x, i, k := m.aLease()
	goroutines, each := 1+m.in.below(4), 1+m.in.below(8)
	if x == nil || x.stamp == 0 {
		return
	}
	parts, stamp := x.owners[i], x.stamp
	part := parts[k]
	m.say("%d goroutines use a Lease of %d of %d, which has %d owners, %d times, and its %d leases are released", goroutines, part.n, x.size, len(x.owners), each, len(parts))
	var mine []dewpond.Lease
	for g := range goroutines {
		mine = append(mine, part.Slice(part.n*g/goroutines, part.n*(g+1)/goroutines))
	}
	m.disown(x, i)
	var wg go125.WaitGroup
	use := func(l dewpond.Lease) {
		half, other := l.Slice(0, l.Len()/2), l.Retain()
		if err := dewpond.Release(l.Truncate(l.Len() / 2)); err != nil {
			m.t.Errorf("Release: %v", err)
		}
		for _, l := range []dewpond.Lease{half, other} {
			if b := l.Bytes(); bytes.Count(b, []byte{stamp}) != l.Len() || cap(b) != l.Len() {
				m.t.Errorf("a part of %d bytes has changed under its owner", l.Len())
			}
			if err := dewpond.Release(l); err != nil {
				m.t.Errorf("Release: %v", err)
			}
		}
	}
	for _, l := range mine {
		wg.Go(func() {
			for range each {
				next := l.Retain()
				use(l)
				l = next
			}
			use(l)
		})
	}
	var released atomic.Int64
	for _, part := range parts {
		wg.Go(func() {
			if dewpond.Release(part.Lease) == nil {
				released.Add(1)
			}
		})
	}
	wg.Wait()
	if n := released.Load(); n != 1 || m.t.Failed() {
		m.fail("in the burst, where %d of an owner's leases were released", n)
	}
	for i, part := range parts {
		m.spent(part.Lease, x.pool)
		if i > 0 {
			x.pool.want.DoubleReleases++
			x.pool.offended()
		}
	}
	m.leasesMustBeValid()
}

// What a poolsModel does with Buffers and Scopes, whose blocks are not the user's: it
// finds out by the pools' counts what they took, and by the contents that no other owner
// has it.

// A heldBuffer is a Buffer, and one of the standard library that does the same.
type heldBuffer struct {
	*dewpond.Buffer
	try   bool // it may be refused a block
	same  bytes.Buffer
	pool  *pooledModel
	block *span // nil: none
	held
}

func (m *poolsModel) buffer(p *pooledModel) {
	if len(m.buffers) < 4 {
		m.say("Buffer of %d", p.number())
		m.buffers = append(m.buffers, &heldBuffer{Buffer: p.BytePool.Buffer(), pool: p})
	}
}

func (m *poolsModel) tryBuffer(p *pooledModel) {
	if len(m.buffers) < 4 {
		m.say("TryBuffer of %d", p.number())
		m.buffers = append(m.buffers, &heldBuffer{Buffer: p.TryBuffer(), try: true, pool: p})
	}
}

func (m *poolsModel) aBuffer() *heldBuffer {
	i := m.in.next()
	if len(m.buffers) == 0 {
		return nil
	}
	return m.buffers[i%len(m.buffers)]
}

// settle finds out what an operation has done to a Buffer's block.
func (x *heldBuffer) settle() {
	m, all := x.pool.m, x.Bytes()
	m.t.Helper()
	if !bytes.Equal(all, x.same.Bytes()) {
		m.fail("a Buffer has %d bytes, which are not the %d that it should have", len(all), x.same.Len())
	}
	if !dewpond.LimitIsRight(x.Buffer) {
		m.fail("a Buffer with a block of %d bytes has another limit", x.Cap())
	}
	m.growing = true
	defer func() { m.growing = false }()
	h, any := x.pool.handedOut(x.Cap(), !x.try)
	if !any {
		if x.block == nil && x.Cap() != 0 || x.block != nil && x.Cap() != len(x.block.b) {
			m.fail("a Buffer has a block of %d bytes that the pool has not counted", x.Cap())
		}
		return
	}
	if h.size != x.Cap() {
		m.fail("a Buffer of %d bytes took %d", x.Cap(), h.size)
	}
	block := m.claim(all)
	if len(block.b) != h.size {
		m.fail("a Buffer that took %d bytes begins with the %d last", h.size, len(block.b))
	}
	if x.block != nil {
		m.unclaim(x.block)
		x.pool.gaveBack(x.held)
	}
	x.block, x.held = block, h
}

func (m *poolsModel) bufferWrite() {
	x, n := m.aBuffer(), m.in.next()
	if x == nil || x.Len() > 200_000 {
		return
	}
	m.stamp = max(1, m.stamp+1)
	p := make([]byte, n*n/4)
	for i := range p {
		p[i] = m.stamp + byte(i) + byte(i>>8)
	}
	switch m.in.below(5) {
	case 0:
		m.say("Write %d to %d", len(p), x.Len())
		x.write(p, func() (int, error) { return x.Write(p) })
	case 1:
		m.say("Write what is there to %d", x.Len())
		x.write(slices.Clone(x.same.Bytes()), func() (int, error) { return x.Write(x.Bytes()) })
	case 2:
		m.say("WriteByte to %d", x.Len())
		x.write([]byte{m.stamp}, func() (int, error) {
			err := x.WriteByte(m.stamp)
			if err != nil {
				return 0, err
			}
			return 1, nil
		})
	case 3:
		m.say("Grow by %d from %d", len(p), x.Len())
		x.mayTake(len(p), func() error { return x.grow(len(p)) })
	case 4:
		n %= x.Len() + 1
		m.say("Write the next %d to %d", n, x.Len())
		next := x.Next(n)
		x.write(slices.Clone(x.same.Next(n)), func() (int, error) { return x.Write(next) })
	}
	x.settle()
}

// write calls what writes p to the Buffer, and if that is not refused writes it to the other.
func (x *heldBuffer) write(p []byte, call func() (int, error)) {
	m := x.pool.m
	m.t.Helper()
	x.mayTake(len(p), func() error {
		n, err := call()
		if err == nil {
			x.same.Write(p)
			p = p[n:]
		} else if n != 0 {
			m.fail("a write of %d bytes returned %d, %v", len(p), n, err)
		}
		return err
	})
}

func (x *heldBuffer) grow(n int) error {
	if x.try {
		if err := x.TryGrow(n); err != nil {
			return err
		}
	} else {
		x.Grow(n)
	}
	if x.Available() < n {
		x.pool.m.fail("%d bytes are available after Grow by %d", x.Available(), n)
	}
	return nil
}

// mayTake makes a call that needs room for n bytes, and may be refused only if it is one
// of TryBuffer, and TryGet of a block that just fits would be refused too.
func (x *heldBuffer) mayTake(n int, call func() error) {
	m, room := x.pool.m, x.Available()
	m.t.Helper()
	least := x.Len() + n
	if least > x.pool.largest() {
		least = max(least, x.Cap()+x.Cap()/8)
	}
	want, idle := x.pool.refusal(least), m.idleEverywhere()
	switch err := call(); {
	case err == nil:
	case !x.try || n <= room || !errors.Is(err, want):
		m.fail("with room for %d, what needs %d returned %v, and TryGet(%d) %v", room, n, err, least, want)
	case m.idleEverywhere() != idle:
		m.fail("what was refused let %d bytes go in vain", idle-m.idleEverywhere())
	case errors.Is(err, dewpond.ErrExhausted):
		x.pool.want.Refused++
	}
}

func (m *poolsModel) bufferRead() {
	x, n := m.aBuffer(), m.in.next()
	if x == nil {
		return
	}
	m.say("Read %d of %d", n*n/4, x.Len())
	var got, want = make([]byte, n*n/4), make([]byte, n*n/4)
	i, err := x.Read(got)
	j, wantErr := x.same.Read(want)
	if i != j || err != wantErr || !bytes.Equal(got[:i], want[:j]) {
		m.fail("Read: %d, %v, want %d, %v", i, err, j, wantErr)
	}
	x.settle()
}

func (m *poolsModel) bufferCut() {
	x, n := m.aBuffer(), m.in.next()
	if x == nil {
		return
	}
	left := n * x.Len() / 255
	m.say("Truncate to %d of %d", left, x.Len())
	x.Truncate(left)
	x.same.Truncate(left)
	x.settle()
}

func (m *poolsModel) bufferRelease() {
	x, reuse := m.aBuffer(), m.in.next()%2 == 1
	if x == nil {
		return
	}
	m.say("Release a Buffer of %d, of %d", x.Len(), x.pool.number())
	x.Release()
	x.same.Reset()
	if x.block != nil {
		m.unclaim(x.block)
		x.pool.gaveBack(x.held)
		x.block = nil
	}
	x.Release() // does nothing
	x.settle()
	if !reuse {
		m.buffers = slices.DeleteFunc(m.buffers, func(other *heldBuffer) bool { return other == x })
	}
}

func (m *poolsModel) mustPanic(what string, f func()) {
	m.t.Helper()
	if func() (panicked bool) {
		defer func() { panicked = recover() != nil }()
		f()
		return
	}() {
		return
	}
	m.fail("%s did not panic", what)
}

// A heldScope is a Scope, the pieces that it has handed out and the blocks that it took.
type heldScope struct {
	*dewpond.Scope
	pool   *pooledModel
	pieces []*span
	blocks []held
}

func (m *poolsModel) scope(p *pooledModel) {
	if len(m.scopes) < 3 {
		m.say("Scope of %d", p.number())
		m.scopes = append(m.scopes, &heldScope{Scope: p.Scope(), pool: p})
	}
}

func (m *poolsModel) aScope() *heldScope {
	i := m.in.next()
	if len(m.scopes) == 0 {
		return nil
	}
	return m.scopes[i%len(m.scopes)]
}

// keep makes a piece the user's, and finds out whether the Scope took a block for it.
func (x *heldScope) keep(b []byte) {
	m := x.pool.m
	m.t.Helper()
	if h, any := x.pool.handedOut(len(b), true); any {
		x.blocks = append(x.blocks, h)
	}
	if cap(b) != len(b) {
		m.fail("a piece of %d bytes has a cap of %d", len(b), cap(b))
	}
	if len(b) > 0 {
		piece := m.claim(b)
		if piece.from()%8 != 0 {
			m.fail("a piece begins at %#x", piece.from())
		}
		m.write(piece)
		x.pieces = append(x.pieces, piece)
	}
}

func (m *poolsModel) scopeGet() {
	x := m.aScope()
	n := oneOf(m.in, 0, 1, 8, 100, 1000, 2047, 2048, 2049, 9000, 40_000, 100_000)
	copied := m.in.below(2) == 1
	if x == nil || m.crowded() {
		return
	}
	m.say("Get %d from a Scope of %d", n, x.pool.number())
	if copied {
		from := bytes.Repeat([]byte{7}, n)
		b := x.Copy(from)
		if !bytes.Equal(b, from) {
			m.fail("Copy did not copy")
		}
		x.keep(b)
		return
	}
	b := x.Get(n)
	if x.pool.o.Zero != dewpond.ZeroNever {
		mustBeZero(m, b)
	}
	if len(b) != n {
		m.fail("a Scope's Get of %d returned %d", n, len(b))
	}
	x.keep(b)
}

// scopeTryGet gets a piece if the pool has a chunk or a block for it.
func (m *poolsModel) scopeTryGet() {
	x := m.aScope()
	n := oneOf(m.in, 0, 1, 8, 100, 1000, 2047, 2048, 2049, 9000, 40_000, 100_000)
	if x == nil || m.crowded() {
		return
	}
	p := x.pool
	refusal := p.refusal(n)
	b, err := x.TryGet(n)
	m.say("TryGet %d from a Scope of %d: %v", n, p.number(), err)
	switch {
	case err == nil && len(b) == n:
		if p.o.Zero != dewpond.ZeroNever {
			mustBeZero(m, b)
		}
		x.keep(b)
	case refusal == nil || !errors.Is(err, refusal) || b != nil:
		m.fail("%v with %d bytes; a block just large enough: %v", err, len(b), refusal)
	case refusal != dewpond.ErrClosed:
		p.want.Refused++
	}
}

func (m *poolsModel) scopeSlice() {
	x, n := m.aScope(), m.in.next()
	if x == nil || m.crowded() {
		return
	}
	m.say("Slice of %d words from a Scope of %d", n, x.pool.number())
	words := dewpond.ScopeSlice[uint64](x.Scope, n)
	if len(words) != n || cap(words) != n {
		m.fail("Slice of %d returned %d of %d", n, len(words), cap(words))
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*n)
	mustBeZero(m, b)
	x.keep(b)
}

func (m *poolsModel) scopeClose() {
	x := m.aScope()
	if x == nil {
		return
	}
	m.say("Close a Scope of %d pieces and %d blocks", len(x.pieces), len(x.blocks))
	for _, piece := range x.pieces {
		m.unclaim(piece)
	}
	x.Close()
	for _, h := range x.blocks {
		x.pool.gaveBack(h)
	}
	x.Close() // does nothing
	m.mustPanic("Get of a Scope that is closed", func() { x.Get(1) })
	m.scopes = slices.DeleteFunc(m.scopes, func(other *heldScope) bool { return other == x })
}
