package contender

import (
	"google.golang.org/grpc/mem"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var grpcMem = Contender{
	Name:  "grpc-mem",
	Hue:   palette.Violet,
	About: "google.golang.org/grpc/mem, its default pool: sync.Pools of 256 B, 4, 16, 32 KiB and 1 MiB; always clears, the whole tier, in Get",
	New:   func(Options) Pool { return grpcPool{mem.DefaultBufferPool()} },
}

// A grpcPool clears blocks even if the scenario does not ask for it: its users cannot turn that
// off.
type grpcPool struct{ pool mem.BufferPool }

func (p grpcPool) View() View { return p }

func (p grpcPool) Get(n int) Block {
	b := p.pool.Get(n)
	return Block{Bytes: *b, handle: b}
}

func (p grpcPool) Put(b Block) { p.pool.Put(b.handle.(*[]byte)) }

func (p grpcPool) Loop(n, count int) {
	for range count {
		b := p.pool.Get(n)
		touch(*b)
		p.pool.Put(b)
	}
}
