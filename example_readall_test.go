package dewpond_test

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond"
)

// The whole of a request's body, in a block that goes back whatever happens.
func ExampleBytePool_ReadAll() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies"})
	defer pool.Close()

	body, err := pool.ReadAll(strings.NewReader("all that the client sent"))
	defer pool.Put(body) // with an error too
	fmt.Printf("%s, %v\n", body, err)
	// Output: all that the client sent, <nil>
}
