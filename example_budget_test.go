//go:build go1.25

package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dewpond/dewpond"
)

// Two pools that together never have more than a megabyte, for callers of
// TryGet and GetContext.
func ExampleNewBudget() {
	budget := dewpond.MustBudget("network", 1<<20)
	frames := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames", Budget: budget})
	bodies := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies", Budget: budget})
	defer frames.Close()
	defer bodies.Close()

	body, err := bodies.TryGet(1 << 20)
	fmt.Println(len(body), err, budget.Used() == budget.Limit())

	_, err = frames.TryGet(1500)
	fmt.Println(errors.Is(err, dewpond.ErrExhausted))

	// Idle, the body makes room for frames.
	bodies.Put(body)
	frame, err := frames.GetContext(context.Background(), 1500)
	fmt.Println(len(frame), err, budget.Used(), bodies.Stats().IdleBytes)
	frames.Put(frame)

	// Output:
	// 1048576 <nil> true
	// true
	// 1500 <nil> 1536 0
}

// Jobs that need several blocks at once take all of them or none, so that no two jobs wait
// for blocks that the other holds.
func ExampleBytePool_GetBatch() {
	budget := dewpond.MustBudget("tiles", 4<<10)
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "tiles", Classes: []int{1 << 10}, Budget: budget})
	defer pool.Close()

	// There is room for four tiles, and each job needs three.
	var jobs sync.WaitGroup
	for range 2 {
		jobs.Go(func() {
			tiles := make([][]byte, 3)
			if err := pool.GetBatch(context.Background(), tiles, 1000); err != nil {
				fmt.Println(err)
				return
			}
			for _, tile := range tiles {
				pool.Put(tile)
			}
		})
	}
	jobs.Wait()
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")

	// More than the Budget can ever give is refused at once.
	err := pool.GetBatch(context.Background(), make([][]byte, 5), 1000)
	fmt.Println(errors.Is(err, dewpond.ErrExhausted))
	// Output:
	// 0 bytes in use
	// true
}

// An exporter reports a Budget once, by its name, although each of its pools has it in its
// Stats.
func ExampleStats_budgetName() {
	budget := dewpond.MustBudget("connections", 64<<10)
	for _, name := range []string{"requests", "answers"} {
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: name, Budget: budget})
		defer pool.Close()
		defer pool.Put(pool.Get(4096))
	}
	fmt.Println(budget)

	seen := map[string]bool{}
	for pool := range dewpond.Pools() {
		if s := pool.Stats(); s.Budget.Name != "" && !seen[s.Budget.Name] {
			seen[s.Budget.Name] = true
			fmt.Println(s.Budget.Name, s.Budget.Used, s.Budget.Limit, s.Budget.Excess)
		}
	}
	// Output:
	// Budget "connections": 8192 of 65536 bytes used
	// connections 8192 65536 0
}
