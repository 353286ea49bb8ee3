package dewkafka_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewkafka"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/misuse"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = map[string]kgo.CompressionCodec{
	"zstd": kgo.ZstdCompression(), "lz4": kgo.Lz4Compression(), "snappy": kgo.SnappyCompression(), "gzip": kgo.GzipCompression(),
}

// produce starts a broker with a topic of batches of up to 15 KB.
func produce(tb testing.TB, codec kgo.CompressionCodec, batches int) *kfake.Cluster {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	if err != nil {
		tb.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		tb.Fatal(err)
	}
	defer client.Close()
	for i := range batches {
		var list []*kgo.Record
		for j := range 1 + rand.IntN(32) {
			list = append(list, kgo.StringRecord(strings.Repeat(fmt.Sprintf("batch %d, record %d; ", i, j), 20)))
		}
		if err := client.ProduceSync(context.Background(), list...).FirstErr(); err != nil {
			tb.Fatal(err)
		}
	}
	return cluster
}

// consumer returns a client that reads the topic, few batches at once.
func consumer(tb testing.TB, cluster *kfake.Cluster, options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxPartitionBytes(4000), kgo.FetchMaxBytes(4000))...)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// consume polls until it has seen all batches.
func consume(tb testing.TB, client *kgo.Client, batches int) {
	for last := -1; last < batches-1; {
		fetches := client.PollFetches(context.Background())
		if err := fetches.Err(); err != nil {
			tb.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			var batch, record int
			if _, err := fmt.Sscanf(string(r.Value), "batch %d, record %d;", &batch, &record); err != nil || batch < last {
				tb.Errorf("after batch %d: %.30q, %v", last, r.Value, err)
			}
			last = batch
			r.Recycle()
		})
	}
}

// A shim is what one writes without Adopt and BodyPool: a block for each batch, of the size of what
// was compressed, and back what the client returns. The client returns what it has made
// instead of a block that was too small, which is no block.
type shim struct{ pool *dewpond.BytePool }

func (s shim) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	return s.pool.Get(len(compressed))
}
func (s shim) PutDecompressBytes(b []byte) { s.pool.Put(b) }

// Four of five batches are decompressed into a block that was used before, where a shim without
// Adopt and BodyPool has none of these.
func TestHits(t *testing.T) {
	const batches, passes = 200, 4
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "zstd" {
				t.Skip("one codec is enough with -short")
			}
			t.Parallel()
			cluster := produce(t, codec, batches)
			defer cluster.Close()
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
			plain := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name() + "-shim"})
			for _, pools := range []kgo.Opt{dewkafka.Pools(pool), kgo.WithPools(shim{plain})} {
				for range passes {
					client := consumer(t, cluster, pools)
					consume(t, client, batches)
					client.Close()
				}
			}
			if s := plain.Stats(); s.Gets < passes*batches || s.HitRate() > 0.1 {
				t.Errorf("the shim: %d gets of %d batches, %.2f hits: it proves nothing any more", s.Gets, passes*batches, s.HitRate())
			} else {
				t.Logf("the shim: %d gets, %.3f hits", s.Gets, s.HitRate())
			}
			s := pool.Stats()
			if t.Logf("%d gets, %.3f hits", s.Gets, s.HitRate()); s.Gets < passes*batches || s.HitRate() < 0.8 {
				t.Errorf("%d gets of %d batches, %.2f hits: want 0.8 of them", s.Gets, passes*batches, s.HitRate())
			}
		})
	}
}

// With checks, blocks that are used after they were recycled, or recycled twice, are found.
func TestMisusesNothing(t *testing.T) {
	const batches = 50
	cluster := produce(t, kgo.Lz4Compression(), batches)
	defer cluster.Close()
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	client := consumer(t, cluster, dewkafka.Pools(pool))
	defer client.Close()
	consume(t, client, batches)
}

// Clients that are closed midway misuse nothing. What they have fetched and nobody has polled
// franz-go drops without a Recycle (its discardBuffered), so those blocks are the collector's, and
// are the only leaks that a checked pool reports: TestMisusesNothing, where all is polled, has
// none.
func TestClientsLeaveMidway(t *testing.T) {
	cluster := produce(t, kgo.ZstdCompression(), 50)
	defer cluster.Close()
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) {
		if v.Kind != misuse.Leak {
			t.Error(v)
		}
	}})
	for range 10 {
		client := consumer(t, cluster, dewkafka.Pools(pool))
		client.PollFetches(t.Context()).EachRecord((*kgo.Record).Recycle)
		client.Close()
	}
	pool.Close() // looks at all that is idle
}
