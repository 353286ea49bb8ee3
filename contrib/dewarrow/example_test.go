package dewarrow_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewarrow"
)

func Example() {
	allocator, err := dewarrow.New(dewpond.BytePoolOptions{Name: "arrow"})
	if err != nil {
		panic(err)
	}
	buffer := memory.NewResizableBuffer(allocator)
	buffer.Resize(3)
	copy(buffer.Bytes(), "dew")
	fmt.Printf("%s\n", buffer.Bytes())
	buffer.Release()
	fmt.Println("in use:", allocator.Pool().Stats().InUseBytes)
	// Output:
	// dew
	// in use: 0
}
