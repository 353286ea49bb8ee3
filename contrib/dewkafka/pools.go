package dewkafka

import (
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
		&batches{pool.Bodies()},
		&records{dewpond.MustSlicePool(dewpond.SlicePoolOptions[kgo.Record]{Name: pool.Name() + "-records"})},
	)
}

type batches struct{ bodies *dewpond.BodyPool }

var _ kgo.PoolDecompressBytes = (*batches)(nil)

func (p *batches) GetDecompressBytes(_ []byte, _ kgo.CompressionCodecType) []byte {
	return p.bodies.Get()
}

// PutDecompressBytes gives back what a batch was decompressed into. Its length is its cap,
// so the BodyPool learns which blocks were too small, and never that they are too large.
func (p *batches) PutDecompressBytes(b []byte) { p.bodies.Put(b) }

type records struct {
	pool *dewpond.SlicePool[kgo.Record]
}

var _ kgo.PoolRecords = (*records)(nil)

func (p *records) GetRecords(n int) []kgo.Record { return p.pool.Get(n) }
func (p *records) PutRecords(s []kgo.Record)     { p.pool.Put(s) }
