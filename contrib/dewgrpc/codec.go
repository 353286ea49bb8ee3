package dewgrpc

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

// Codec returns grpc-go's codec for protobuf, but on buffers of pool. grpc-go's own takes
// them from a pool of the whole process, whatever the options of client and server say.
func Codec(pool mem.BufferPool) encoding.CodecV2 { return codec{pool} }

type codec struct{ pool mem.BufferPool }

// Name is that of grpc-go's codec: the bytes on the wire are the same.
func (codec) Name() string { return "proto" }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	m, err := messageOf(v)
	if err != nil {
		return nil, err
	}
	options := proto.MarshalOptions{}
	size := options.Size(m)
	if size == 0 {
		return nil, nil
	}
	options.UseCachedSize = true // of the call of Size
	b := c.pool.Get(size)
	encoded, err := options.MarshalAppend((*b)[:0], m)
	if err != nil {
		c.pool.Put(b)
		return nil, err
	}
	*b = encoded // as long as Size said, so still in its block
	return mem.BufferSlice{mem.NewBuffer(b, c.pool)}, nil
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, err := messageOf(v)
	if err != nil {
		return err
	}
	b := data.MaterializeToBuffer(c.pool)
	defer b.Free()
	return proto.Unmarshal(b.ReadOnlyData(), m) // copies what the message keeps
}

func messageOf(v any) (proto.Message, error) {
	switch v := v.(type) {
	case proto.Message:
		return v, nil
	case protoadapt.MessageV1:
		return protoadapt.MessageV2Of(v), nil
	}
	return nil, fmt.Errorf("dewgrpc: %T is not a protobuf message: use a codec of its kind", v)
}
