package dewtest_test

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// The pool fails the test that made it, here a fake that only records its failures, and
// says where the block came from.
func ExampleNewBytePool() {
	t := &failures{name: "TestEncode"} // a *testing.T, in your tests
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	b := pool.Get(1000)
	pool.Put(b)
	b[0] = 'x' // too late
	t.end()

	report, stacks, _ := strings.Cut(t.errors[0], "\n")
	fmt.Println(report)
	fmt.Println(strings.Contains(stacks, "ExampleNewBytePool"))
	// Output:
	// dewpond: write after Put: 1024 bytes of pool "TestEncode"
	// true
}

// An Allocator that uses its memory again without clearing it. The fake records the failure.
func ExampleTestAllocator() {
	t := &failures{name: "TestShelf"} // a *testing.T, in your tests
	dewtest.TestAllocator(t, newShelf("zero"), 64)

	fmt.Println(t.errors[0])
	// Output: dewtest: Alloc(64) returned a block whose byte 0 is 0x1
}
