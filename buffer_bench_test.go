package dewpond_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

// An order is a record of about 100 bytes of JSON.
type order struct {
	ID     int    `json:"id"`
	Symbol string `json:"symbol"`
	Side   string `json:"side"`
	Price  string `json:"price"`
	Amount string `json:"amount"`
	Client string `json:"client"`
}

// orders has about so many bytes of JSON.
func orders(size int) []order {
	list := make([]order, (size+99)/100)
	for i := range list {
		list[i] = order{100_000 + i, "BTC-USD", "buy", "64123.50", "0.00250000", "c-90210-7"}
	}
	return list
}

// encodeOurs and encodeTheirs are one encoder written twice, as generated ones are:
// many short pieces, and no call through an interface.
func encodeOurs(b *dewpond.Buffer, list []order) {
	b.WriteByte('[')
	for i := range list {
		o := &list[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(o.ID), 10))
		b.WriteString(`,"symbol":"`)
		b.WriteString(o.Symbol)
		b.WriteString(`","side":"`)
		b.WriteString(o.Side)
		b.WriteString(`","price":"`)
		b.WriteString(o.Price)
		b.WriteString(`","amount":"`)
		b.WriteString(o.Amount)
		b.WriteString(`","client":"`)
		b.WriteString(o.Client)
		b.WriteString(`"}`)
	}
	b.WriteByte(']')
}

func encodeTheirs(b *bytes.Buffer, list []order) {
	b.WriteByte('[')
	for i := range list {
		o := &list[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(o.ID), 10))
		b.WriteString(`,"symbol":"`)
		b.WriteString(o.Symbol)
		b.WriteString(`","side":"`)
		b.WriteString(o.Side)
		b.WriteString(`","price":"`)
		b.WriteString(o.Price)
		b.WriteString(`","amount":"`)
		b.WriteString(o.Amount)
		b.WriteString(`","client":"`)
		b.WriteString(o.Client)
		b.WriteString(`"}`)
	}
	b.WriteByte(']')
}

// A builder builds a body in a buffer and writes it out.
type builder interface {
	pieces(w io.Writer, list []order) // by the encoder above
	json(w io.Writer, list []order)   // by encoding/json, which makes one Write
}

type oursPooled struct {
	pool *dewpond.BytePool
	grow bool // to about the size of the body, before the first write
}

func (x oursPooled) prepare(b *dewpond.Buffer, list []order) {
	if x.grow {
		b.Grow(105 * len(list))
	}
}

func (x oursPooled) pieces(w io.Writer, list []order) {
	b := x.pool.Buffer()
	defer b.Release()
	x.prepare(b, list)
	encodeOurs(b, list)
	b.WriteTo(w)
}

func (x oursPooled) json(w io.Writer, list []order) {
	b := x.pool.Buffer()
	defer b.Release()
	x.prepare(b, list)
	json.NewEncoder(b).Encode(list)
	b.WriteTo(w)
}

type theirsFresh struct{}

func (theirsFresh) pieces(w io.Writer, list []order) {
	var b bytes.Buffer
	encodeTheirs(&b, list)
	b.WriteTo(w)
}

func (theirsFresh) json(w io.Writer, list []order) {
	var b bytes.Buffer
	json.NewEncoder(&b).Encode(list)
	b.WriteTo(w)
}

type theirsPooled struct{ pool *sync.Pool }

func (x theirsPooled) pieces(w io.Writer, list []order) {
	b := x.pool.Get().(*bytes.Buffer)
	defer x.pool.Put(b)
	b.Reset()
	encodeTheirs(b, list)
	b.WriteTo(w)
}

func (x theirsPooled) json(w io.Writer, list []order) {
	b := x.pool.Get().(*bytes.Buffer)
	defer x.pool.Put(b)
	b.Reset()
	json.NewEncoder(b).Encode(list)
	b.WriteTo(w)
}

// BenchmarkBufferBody builds bodies and writes them out: 1.2 KB, 8 KB, 200 KB, and
// mixed, which is 1.2 KB but for every 25th of 64 KB. The bytes.Buffers of a
// sync.Pool neither grow nor are cleared, and stay as large as their largest body
// until a collection drops them; dewpond grows for each body and clears its blocks.
// dewpond-Grow is told the size of the body first.
func BenchmarkBufferBody(b *testing.B) {
	contenders := []struct {
		name string
		builder
	}{
		{"dewpond", oursPooled{pool: newPool(b, dewpond.BytePoolOptions{})}},
		{"dewpond-Grow", oursPooled{pool: newPool(b, dewpond.BytePoolOptions{}), grow: true}},
		{"dewpond-ZeroNever", oursPooled{pool: newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})}},
		{"bytes.Buffer", theirsFresh{}},
		{"sync.Pool", theirsPooled{&sync.Pool{New: func() any { return new(bytes.Buffer) }}}},
	}
	for _, encoder := range []string{"pieces", "json"} {
		for _, size := range []int{1200, 8 << 10, 200 << 10, 0} {
			name, list, large := fmt.Sprintf("%s/size=%d", encoder, size), orders(size), orders(size)
			if size == 0 {
				name, list, large = encoder+"/mixed", orders(1200), orders(64<<10)
			}
			for _, c := range contenders {
				build := c.pieces
				if encoder == "json" {
					build = c.json
				}
				b.Run(name+"/"+c.name, func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if i%25 == 24 {
							build(io.Discard, large)
						} else {
							build(io.Discard, list)
						}
					}
				})
			}
		}
	}
}

// BenchmarkBufferWrites is a hundred short writes to a buffer that has room.
func BenchmarkBufferWrites(b *testing.B) {
	const text = "some text, 20 bytes."
	part := []byte(text)
	ours, theirs := newPool(b, dewpond.BytePoolOptions{}).Buffer(), new(bytes.Buffer)
	defer ours.Release()
	ours.Grow(4096)
	theirs.Grow(4096)
	b.Run("WriteByte/dewpond", func(b *testing.B) {
		for b.Loop() {
			ours.Reset()
			for range 100 {
				ours.WriteByte('a')
			}
		}
	})
	b.Run("WriteByte/bytes.Buffer", func(b *testing.B) {
		for b.Loop() {
			theirs.Reset()
			for range 100 {
				theirs.WriteByte('a')
			}
		}
	})
	b.Run("WriteString/dewpond", func(b *testing.B) {
		for b.Loop() {
			ours.Reset()
			for range 100 {
				ours.WriteString(text)
			}
		}
	})
	b.Run("WriteString/bytes.Buffer", func(b *testing.B) {
		for b.Loop() {
			theirs.Reset()
			for range 100 {
				theirs.WriteString(text)
			}
		}
	})
	b.Run("Write/dewpond", func(b *testing.B) {
		for b.Loop() {
			ours.Reset()
			for range 100 {
				ours.Write(part)
			}
		}
	})
	b.Run("Write/bytes.Buffer", func(b *testing.B) {
		for b.Loop() {
			theirs.Reset()
			for range 100 {
				theirs.Write(part)
			}
		}
	})
}
