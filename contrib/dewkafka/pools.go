package dewkafka

import (
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Pools returns the pools of a client:
//
//	client, err := kgo.NewClient(kgo.SeedBrokers(seeds...), dewkafka.Pools(pool))
//
// Decompressed batches are blocks of pool, whose size follows that of the batches: a client
// loses the block that a batch outgrows, and gives back what it has made instead, which the
// pool adopts. The records are in a pool NAME-records. Pools panics if pool is off the heap,
// as [dewpond.BytePool.Bodies] does.
//
// franz-go clears what it gives back. A pool with [dewpond.ZeroNever] does not do so again.
func Pools(pool *dewpond.BytePool) kgo.Opt {
	return kgo.WithPools(
		&batches{bodies: pool.Bodies()},
		&records{dewpond.MustSlicePool(dewpond.SlicePoolOptions[kgo.Record]{Name: pool.Name() + "-records"})},
	)
}

// batches are a client's decompressed batches. franz-go returns a slice whose length is its cap, so
// nothing says how much of a block a batch has filled. The compressed bytes are an estimate: few
// batches have more than 64 times as many, and those that outgrow their blocks show it.
type batches struct {
	bodies *dewpond.BodyPool

	compressed, block atomic.Int64 // bytes of the last batch, and of the block for it
}

var _ kgo.PoolDecompressBytes = (*batches)(nil)

func (p *batches) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	b := p.bodies.Get()
	p.compressed.Store(int64(len(compressed)))
	p.block.Store(int64(cap(b)))
	return b
}

// PutDecompressBytes gives back what a batch was decompressed into. If that is no larger than the
// last block, the BodyPool learns 64 times the compressed bytes of the last batch instead: which
// batch that is does not matter, because it learns from many.
func (p *batches) PutDecompressBytes(b []byte) {
	n := int64(len(b))
	if n <= p.block.Load() {
		n = min(n, 64*p.compressed.Load())
	}
	p.bodies.Put(b[:n])
}

type records struct {
	pool *dewpond.SlicePool[kgo.Record]
}

var _ kgo.PoolRecords = (*records)(nil)

func (p *records) GetRecords(n int) []kgo.Record { return p.pool.Get(n) }
func (p *records) PutRecords(s []kgo.Record)     { p.pool.Put(s) }
