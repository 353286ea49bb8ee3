package dewpond_test

import (
	"bytes"
	"errors"
	"slices"
	"unsafe"

	"github.com/dewpond/dewpond"
)

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
