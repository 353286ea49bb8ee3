package dewpond_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/dewpond/dewpond"
)

// Two pools that together never have more than a megabyte, for those who ask by
// TryGet or GetContext.
func ExampleNewBudget() {
	budget := dewpond.NewBudget(1 << 20)
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
