package dewjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewjson"
	"github.com/dewpond/dewpond/internal/turns"
)

// BenchmarkMarshal encodes orders and writes them, with json.Marshal in turn.
func BenchmarkMarshal(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint("orders=", n), func(b *testing.B) {
			list := orders(n)
			bodies := dewjson.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()}))
			turns.Take(b, 10_000/n, func() {
				body, err := bodies.Marshal(list)
				if err != nil {
					b.Fatal(err)
				}
				io.Discard.Write(body.Bytes())
				bodies.Put(body)
			}, func() {
				body, err := json.Marshal(list)
				if err != nil {
					b.Fatal(err)
				}
				io.Discard.Write(body)
			})
		})
	}
}

// BenchmarkUnmarshal reads and decodes orders, with a json.Decoder in turn.
func BenchmarkUnmarshal(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint("orders=", n), func(b *testing.B) {
			content, err := json.Marshal(orders(n))
			if err != nil {
				b.Fatal(err)
			}
			bodies := dewjson.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()}))
			var list []order
			turns.Take(b, max(10, 2000/n), func() {
				if err := bodies.Unmarshal(bytes.NewReader(content), &list); err != nil {
					b.Fatal(err)
				}
			}, func() {
				if err := json.NewDecoder(bytes.NewReader(content)).Decode(&list); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
