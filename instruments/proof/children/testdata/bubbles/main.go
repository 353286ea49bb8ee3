// Command bubbles prints what the Stats of a pool say of bubbles in a program that is no test.
package main

import (
	"fmt"

	"github.com/dewpond/dewpond"
)

func main() {
	fmt.Println(dewpond.MustPool(dewpond.PoolOptions[[]byte]{Reset: func(*[]byte) {}}).Stats().Bubbles)
}
