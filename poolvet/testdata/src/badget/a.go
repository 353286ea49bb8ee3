package badget

import (
	"bytes"
	"sync"
)

var (
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	bare    sync.Pool
	late    sync.Pool
)

func init() { late.New = func() any { return new(bytes.Buffer) } }

func right() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

func wrong() *[]byte {
	return buffers.Get().(*[]byte) // want `New of buffers makes a \*bytes.Buffer, and this is asserted to be a \*\[\]byte \(badget\)`
}

func none() *bytes.Buffer {
	return bare.Get().(*bytes.Buffer) // want `bare has no New, so Get may return nil`
}

func looked() *bytes.Buffer {
	if v := bare.Get(); v != nil {
		return v.(*bytes.Buffer)
	}
	return new(bytes.Buffer)
}

func commaOk() *bytes.Buffer {
	if b, ok := bare.Get().(*bytes.Buffer); ok {
		return b
	}
	return new(bytes.Buffer)
}

func setLater() *bytes.Buffer { return late.Get().(*bytes.Buffer) }
