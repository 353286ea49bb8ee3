package tool

import (
	"bytes"
	"strconv"

	"github.com/valyala/bytebufferpool"

	"github.com/dewpond/dewpond"
)

// An order is a record of about 100 bytes of JSON.
type order struct {
	ID                                  int
	Symbol, Side, Price, Amount, Client string
}

// orders returns orders with about size bytes of JSON.
func orders(size int) []order {
	list := make([]order, (size+99)/100)
	for i := range list {
		list[i] = order{100_000 + i, "BTC-USD", "buy", "64123.50", "0.00250000", "c-90210-7"}
	}
	return list
}

// encodeOurs, encodeStandard and encodeByteBuffer are one encoder written three times, as
// generated encoders are: many short pieces, without a call through an interface.
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

func encodeStandard(b *bytes.Buffer, list []order) {
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

// encodeByteBuffer appends the number to b.B, which is how that library is used: it has no
// AvailableBuffer.
func encodeByteBuffer(b *bytebufferpool.ByteBuffer, list []order) {
	b.WriteByte('[')
	for i := range list {
		o := &list[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":`)
		b.B = strconv.AppendInt(b.B, int64(o.ID), 10)
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

// longestOrder is more than the JSON of any order takes.
const longestOrder = 128

// appendOrders is the same encoder, which appends.
func appendOrders(p []byte, list []order) []byte {
	p = append(p, '[')
	for i := range list {
		o := &list[i]
		if i > 0 {
			p = append(p, ',')
		}
		p = append(p, `{"id":`...)
		p = strconv.AppendInt(p, int64(o.ID), 10)
		p = append(p, `,"symbol":"`...)
		p = append(p, o.Symbol...)
		p = append(p, `","side":"`...)
		p = append(p, o.Side...)
		p = append(p, `","price":"`...)
		p = append(p, o.Price...)
		p = append(p, `","amount":"`...)
		p = append(p, o.Amount...)
		p = append(p, `","client":"`...)
		p = append(p, o.Client...)
		p = append(p, `"}`...)
	}
	return append(p, ']')
}
