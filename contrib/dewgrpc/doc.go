// Package dewgrpc has grpc-go take its buffers from a pool of dewpond, on the client, on
// the server and in the codec:
//
//	buffers := dewgrpc.New(pool)
//	server := grpc.NewServer(experimental.BufferPool(buffers), grpc.ForceServerCodecV2(dewgrpc.Codec(buffers)))
//	conn, err := grpc.NewClient(target, experimental.WithBufferPool(buffers),
//		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(dewgrpc.Codec(buffers))))
//
// grpc-go counts the references to a buffer and puts it back itself. Code that has freed a
// [mem.Buffer] must not use its bytes any more, which grpc-go asks for with any pool.
//
// grpc-go leaves to the collector what it has received for a canceled call, or no longer
// sends. Such blocks stay in [dewpond.Stats.InUseBytes], and in a [dewpond.Budget] until the
// collector finds them.
package dewgrpc
