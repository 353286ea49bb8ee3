package dewkafka_test

import (
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewkafka"
	"github.com/dewpond/dewpond/internal/turns"
	"github.com/twmb/franz-go/pkg/kgo"
)

// BenchmarkConsume reads a topic of 100 batches, with a client without pools in turn, and with
// one on a [shim]. The broker is in the same process, and its time is in all.
func BenchmarkConsume(b *testing.B) {
	const batches = 100
	shims := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name() + "-shim", Zero: dewpond.ZeroNever})
	for _, name := range []string{"zstd", "lz4", "snappy"} {
		b.Run(name, func(b *testing.B) {
			cluster := produce(b, codecs[name], batches)
			defer cluster.Close()
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name(), Zero: dewpond.ZeroNever})
			turn := func(options ...kgo.Opt) func() {
				return func() {
					client := consumer(b, cluster, options...)
					consume(b, client, batches)
					client.Close()
				}
			}
			turns.Take(b, 1, turn(dewkafka.Pools(pool)), turn())
		})
		b.Run(name+"/beside-shim", func(b *testing.B) {
			cluster := produce(b, codecs[name], batches)
			defer cluster.Close()
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name(), Zero: dewpond.ZeroNever})
			turn := func(pools kgo.Opt) func() {
				return func() {
					client := consumer(b, cluster, pools)
					consume(b, client, batches)
					client.Close()
				}
			}
			turns.Take(b, 1, turn(dewkafka.Pools(pool)), turn(kgo.WithPools(shim{shims})))
			b.ReportMetric(pool.Stats().HitRate(), "dewpond-hits")
			b.ReportMetric(shims.Stats().HitRate(), "shim-hits")
		})
	}
}
