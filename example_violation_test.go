package dewpond_test

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
)

// A test harness collects what checked mode finds in all pools of the process.
func ExampleOnViolation() {
	stop := dewpond.OnViolation(func(v misuse.Violation) { fmt.Println(v.Pool, "-", v.Kind) })
	defer stop()

	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames", Check: dewpond.CheckAll})
	defer pool.Close()
	b := pool.Get(100)
	pool.Put(b)
	pool.Put(b)
	// Output:
	// frames - double Put
}

// Code that has no pool of its own takes blocks from the one that all packages share.
func ExampleGet() {
	b := dewpond.Default().Get(100)
	defer dewpond.Default().Put(b)
	fmt.Println(len(b), cap(b), dewpond.Default().Name())
	// Output:
	// 100 128 default
}
