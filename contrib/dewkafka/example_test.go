package dewkafka_test

import (
	"context"
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewkafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func Example() {
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	defer cluster.Close()
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "kafka", Zero: dewpond.ZeroNever})
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("orders"), dewkafka.Pools(pool))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("dew")}).FirstErr(); err != nil {
		panic(err)
	}
	client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
		fmt.Println(r.Topic)
		r.Recycle() // the record is not used any more
	})
	// Output:
	// orders
}
