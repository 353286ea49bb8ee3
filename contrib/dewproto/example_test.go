package dewproto_test

import (
	"bytes"
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewproto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "messages"})
	messages := dewproto.New(pool)

	b, err := messages.Marshal(wrapperspb.String("dew"))
	if err != nil {
		panic(err)
	}
	defer pool.Put(b)

	var m wrapperspb.StringValue
	if err := messages.Unmarshal(bytes.NewReader(b), &m); err != nil {
		panic(err)
	}
	fmt.Println(m.Value)
	// Output:
	// dew
}
