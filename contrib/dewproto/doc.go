// Package dewproto encodes protobuf messages into blocks of a pool and decodes them from
// it. For grpc-go, contrib/dewgrpc has a codec.
package dewproto
