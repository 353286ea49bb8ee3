package dewgrpc

import (
	"github.com/dewpond/dewpond"
	"google.golang.org/grpc/mem"
)

// A BufferPool is a [mem.BufferPool] on blocks of a pool. grpc-go passes buffers by
// pointer to their slice, so each buffer needs a slice header on the heap. Those have
// pools of their own: a Get and Put in the steady state allocates nothing.
type BufferPool struct {
	blocks  *dewpond.BytePool
	headers *dewpond.Pool[[]byte] // without a block, for sizes above small

	// short has headers that keep their blocks of shortCap bytes, because a Get and Put of
	// two pools would show in a short message.
	short *dewpond.Pool[[]byte]
}

const (
	// small is the size up to which a buffer comes from short: the threshold up to which
	// [mem.NewBuffer] does not put back a buffer.
	small = 1 << 10
	// shortCap is above the threshold. What Get asks of the blocks is larger: so Put knows a
	// buffer of short by its cap.
	shortCap = small + 1
)

var _ mem.BufferPool = (*BufferPool)(nil)

// New returns a BufferPool. Buffers of more than 1 KiB are blocks of the pool, which may
// be shared with others. Shorter ones are from memory of the BufferPool's own, at most
// 1 MiB of it idle, which counts as the pool NAME-short.
func New(pool *dewpond.BytePool) *BufferPool {
	return &BufferPool{
		blocks: pool,
		headers: dewpond.MustPool(dewpond.PoolOptions[[]byte]{
			Name:  pool.Name() + "-headers",
			Reset: func(b *[]byte) { *b = nil },
		}),
		short: dewpond.MustPool(dewpond.PoolOptions[[]byte]{
			Name:    pool.Name() + "-short",
			MaxIdle: 1 << 20 / shortCap,
			New:     func() *[]byte { b := make([]byte, shortCap); return &b },
			Reset:   func(b *[]byte) { clear((*b)[:shortCap]) }, // Get sets the length
		}),
	}
}

// Get returns a buffer of n bytes.
func (p *BufferPool) Get(n int) *[]byte {
	if uint(n) <= small {
		b := p.short.Get()
		*b = (*b)[:n]
		return b
	}
	b := p.headers.Get()
	*b = p.blocks.Get(max(n, shortCap+1))[:n] // above the largest class the cap is what was asked for
	return b
}

// Put gives a buffer back. It must be a prefix of what Get has returned.
func (p *BufferPool) Put(b *[]byte) {
	if cap(*b) == shortCap {
		p.short.Put(b)
		return
	}
	p.blocks.Put(*b)
	p.headers.Put(b)
}

// Classes returns [dewpond.DefaultClasses], and above them those for messages of up to
// 4 MiB, grpc-go's default limit. A pool does not keep what exceeds its largest class:
//
//	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "grpc", Classes: dewgrpc.Classes()})
func Classes() []int {
	return append(dewpond.DefaultClasses(),
		1280<<10, 1536<<10, 1792<<10, 2<<20, 2560<<10, 3<<20, 3584<<10, 4<<20)
}
