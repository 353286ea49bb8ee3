package dewgrpc_test

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/dewpond/dewpond/contrib/dewgrpc"
)

// most is the size of the largest message.
const most = 4 << 20

// echoService answers each message with itself.
var echoService = grpc.ServiceDesc{
	ServiceName: "Echo",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Unary",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			m := new(wrapperspb.BytesValue)
			return m, decode(m)
		},
	}},
	Streams: []grpc.StreamDesc{{
		StreamName: "Stream",
		Handler: func(_ any, s grpc.ServerStream) error {
			for {
				m := new(wrapperspb.BytesValue)
				if err := s.RecvMsg(m); err != nil {
					return nil // the client has ended the stream
				}
				if err := s.SendMsg(m); err != nil {
					return err
				}
			}
		},
		ServerStreams: true,
		ClientStreams: true,
	}},
}

// connect starts an echo server and returns a connection to it. pool is nil for grpc-go's
// own. end ends both.
func connect(tb testing.TB, pool mem.BufferPool) (conn *grpc.ClientConn, end func()) {
	serverOptions := []grpc.ServerOption{grpc.WaitForHandlers(true), grpc.MaxRecvMsgSize(most)}
	calls := []grpc.CallOption{grpc.MaxCallRecvMsgSize(most)}
	dial := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if pool != nil {
		serverOptions = append(serverOptions, experimental.BufferPool(pool), grpc.ForceServerCodecV2(dewgrpc.Codec(pool)))
		calls = append(calls, grpc.ForceCodecV2(dewgrpc.Codec(pool)))
		dial = append(dial, experimental.WithBufferPool(pool))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := grpc.NewServer(serverOptions...)
	server.RegisterService(&echoService, nil)
	served := make(chan bool)
	go func() { defer close(served); server.Serve(listener) }()
	conn, err = grpc.NewClient(listener.Addr().String(), append(dial, grpc.WithDefaultCallOptions(calls...))...)
	if err != nil {
		tb.Fatal(err)
	}
	return conn, func() {
		conn.Close()
		server.Stop()
		<-served
	}
}

func unary(ctx context.Context, c *grpc.ClientConn, body []byte) ([]byte, error) {
	answer := new(wrapperspb.BytesValue)
	err := c.Invoke(ctx, "/Echo/Unary", wrapperspb.Bytes(body), answer)
	return answer.Value, err
}

func stream(ctx context.Context, c *grpc.ClientConn) (grpc.ClientStream, error) {
	return c.NewStream(ctx, &echoService.Streams[0], "/Echo/Stream")
}

func exchange(s grpc.ClientStream, body []byte) ([]byte, error) {
	if err := s.SendMsg(wrapperspb.Bytes(body)); err != nil {
		return nil, err
	}
	answer := new(wrapperspb.BytesValue)
	err := s.RecvMsg(answer)
	return answer.Value, err
}
