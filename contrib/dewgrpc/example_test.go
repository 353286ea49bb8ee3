package dewgrpc_test

import (
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "grpc", Classes: dewgrpc.Classes()})
	buffers := dewgrpc.New(pool)
	codec := dewgrpc.Codec(buffers)

	server := grpc.NewServer(experimental.BufferPool(buffers), grpc.ForceServerCodecV2(codec))
	defer server.Stop()

	conn, err := grpc.NewClient("127.0.0.1:50051",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		experimental.WithBufferPool(buffers),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec)))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
}
