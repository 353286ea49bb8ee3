package dewpond_test

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/dewpond/dewpond"
)

// What a poolsModel does with Buffers, Leases and Scopes, whose blocks are not the
// user's: it finds out by the pools' counts what they took, and by what it sees of them
// that nobody else has it.

// A heldBuffer is a Buffer, and one of the standard library that does the same.
type heldBuffer struct {
	*dewpond.Buffer
	same  bytes.Buffer
	pool  *pooledModel
	block *span // nil: none
	held
}

func (m *poolsModel) buffer(p *pooledModel) {
	if len(m.buffers) < 4 {
		m.say("Buffer of %d", p.number())
		m.buffers = append(m.buffers, &heldBuffer{Buffer: p.Buffer(), pool: p})
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
	m.growing = true
	defer func() { m.growing = false }()
	h, any := x.pool.handedOut(x.Cap())
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
		m.giveUp(x.block)
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
		x.Write(p)
		x.same.Write(p)
	case 1:
		m.say("Write what is there to %d", x.Len())
		x.same.Write(slices.Clone(x.same.Bytes()))
		x.Write(x.Bytes())
	case 2:
		m.say("WriteByte to %d", x.Len())
		x.WriteByte(m.stamp)
		x.same.WriteByte(m.stamp)
	case 3:
		m.say("Grow by %d from %d", len(p), x.Len())
		x.Grow(len(p))
		if x.Available() < len(p) {
			m.fail("%d bytes are available after Grow by %d", x.Available(), len(p))
		}
	case 4:
		n %= x.Len() + 1
		m.say("Write the next %d to %d", n, x.Len())
		x.same.Write(slices.Clone(x.same.Next(n)))
		x.Write(x.Next(n))
	}
	x.settle()
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
		m.giveUp(x.block)
		x.pool.gaveBack(x.held)
		x.block = nil
	}
	x.Release() // does nothing
	x.settle()
	if !reuse {
		m.buffers = slices.DeleteFunc(m.buffers, func(other *heldBuffer) bool { return other == x })
	}
}

// A heldLease is a block that has some owners, and had others.
type heldLease struct {
	*span
	held
	pool   *pooledModel
	n      int
	owners []dewpond.Lease
}

func (m *poolsModel) keepLease(p *pooledModel, l dewpond.Lease, n int, h held) {
	m.t.Helper()
	x := &heldLease{span: m.claim(l.Bytes()), held: h, pool: p, n: n, owners: []dewpond.Lease{l}}
	m.write(x.span)
	m.leases = append(m.leases, x)
}

func (m *poolsModel) lease(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	m.say("Lease %d of %d", n, p.number())
	l := p.Lease(n)
	m.keepLease(p, l, n, p.got(l.Bytes(), n, true))
}

func (m *poolsModel) tryLease(p *pooledModel) {
	n := p.size()
	if m.crowded() {
		return
	}
	want := p.refusal(n)
	m.say("TryLease %d of %d: %v", n, p.number(), want)
	l, err := p.TryLease(n)
	var b []byte
	if err == nil {
		b = l.Bytes()
	}
	if h, ok := p.tried(b, err, want, n); ok {
		m.keepLease(p, l, n, h)
	}
}

// aLease chooses an owner.
func (m *poolsModel) aLease() (x *heldLease, owner int) {
	i, j := m.in.next(), m.in.next()
	if len(m.leases) == 0 {
		return nil, 0
	}
	x = m.leases[i%len(m.leases)]
	return x, j % len(x.owners)
}

func (m *poolsModel) retain() {
	x, i := m.aLease()
	if x == nil || len(x.owners) > 5 {
		return
	}
	m.say("Retain a Lease of %d", x.size)
	x.owners = append(x.owners, x.owners[i].Retain())
	m.mustBeValid(x)
}

func (m *poolsModel) mustBeValid(x *heldLease) {
	m.t.Helper()
	for _, l := range x.owners {
		if b := l.Bytes(); len(b) != x.n || cap(b) != len(x.b) || unsafe.SliceData(b) != unsafe.SliceData(x.b) {
			m.fail("a Lease of %d bytes has %d of %d, elsewhere", x.n, len(b), cap(b))
		}
	}
}

func (m *poolsModel) release() {
	x, i := m.aLease()
	if x == nil {
		return
	}
	m.say("Release a Lease of %d, which has %d owners", x.size, len(x.owners))
	l := x.owners[i]
	x.owners = slices.Delete(x.owners, i, i+1)
	if len(x.owners) == 0 {
		m.giveUp(x.span)
		m.leases = slices.DeleteFunc(m.leases, func(other *heldLease) bool { return other == x })
		x.pool.gaveBack(x.held)
	}
	if err := l.Release(); err != nil {
		m.fail("Release: %v", err)
	}
	m.stale = append(m.stale, l)
	m.stale = m.stale[max(0, len(m.stale)-8):]
	m.mustBeValid(x)
}

// releaseStale does all that can be done with a Lease that was released.
func (m *poolsModel) releaseStale() {
	i := m.in.next()
	if len(m.stale) == 0 {
		return
	}
	l := m.stale[i%len(m.stale)]
	m.say("Release a Lease of %d again", l.Len())
	if err := l.Release(); err != dewpond.ErrReleased {
		m.fail("a second Release: %v", err)
	}
	m.mustPanic("Bytes of a stale Lease", func() { l.Bytes() })
	m.mustPanic("Retain of a stale Lease", func() { l.Retain() })
	for _, x := range m.leases {
		m.mustBeValid(x)
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
	if h, any := x.pool.handedOut(len(b)); any {
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

func (m *poolsModel) scopeSlice() {
	x, n := m.aScope(), m.in.next()
	if x == nil || m.crowded() {
		return
	}
	m.say("Slice of %d words from a Scope of %d", n, x.pool.number())
	words := dewpond.Slice[uint64](x.Scope, n)
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
		m.giveUp(piece)
	}
	x.Close()
	for _, h := range x.blocks {
		x.pool.gaveBack(h)
	}
	x.Close() // does nothing
	m.mustPanic("Get of a Scope that is closed", func() { x.Get(1) })
	m.scopes = slices.DeleteFunc(m.scopes, func(other *heldScope) bool { return other == x })
}
