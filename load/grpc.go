package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/dewpond/dewpond/internal/measure"
)

// A Procedure is a unary gRPC call. Its messages are known by Options.Descriptors, or by the
// target's gRPC reflection.
type Procedure struct {
	Method string // package.Service/Method
	// JSON is the message that is sent, as protojson reads it. Texts may have names in them.
	JSON any
	// AtMost is how many bytes the answer may have; a longer one is an error. 0 is 1 MiB.
	AtMost int64
	// Take gives names values from the answer, as protojson writes it: see [Request].
	Take map[string]string
}

// A procedure is a Procedure that is ready.
type procedure struct {
	Procedure
	method protoreflect.MethodDescriptor
	path   string
	tree   tree
	take   takes
	conns  *grpcConns
	where  string
}

func (p Procedure) compile(c *compilation) (Action, error) {
	out := &procedure{Procedure: p, where: c.where + ".grpc"}
	var err error
	if service, method, ok := strings.Cut(p.Method, "/"); !ok || service == "" || method == "" {
		return nil, at(out.where, "%q is no method: give package.Service/Method", p.Method)
	}
	if out.tree, err = c.tree(".json", p.JSON); err != nil {
		return nil, err
	}
	if out.AtMost == 0 {
		out.AtMost = mostTaken
	}
	out.take, err = c.takes(p.Take)
	return out, err
}

// Do returns an error: a Procedure is made ready as part of a Scenario, and works there alone.
func (Procedure) Do(context.Context, *Call) error {
	return errors.New("load: a Procedure outside a Scenario")
}

func (p *procedure) prepare(ctx context.Context, r *run) (err error) {
	if p.method, err = r.types().method(ctx, p.Procedure.Method); err != nil {
		var invalid *InvalidError
		if errors.As(err, &invalid) && invalid.Where == "" {
			invalid.Where = p.where
		}
		return err
	}
	p.path = fmt.Sprintf("/%s/%s", p.method.Parent().FullName(), p.method.Name())
	r.speaks(GRPC)
	if r.rpc == nil {
		if r.rpc, err = r.connectGRPC(ctx); err != nil {
			return err
		}
	}
	p.conns = r.rpc
	return nil
}

func (p *procedure) Do(ctx context.Context, c *Call) error {
	c.protocol, c.method, c.path = GRPC, "POST", p.path
	message, err := fill(p.method.Input(), p.tree, c)
	if err != nil {
		return err
	}
	if c.run.requests != nil { // in the form of a scenario's json; the size is sent's
		c.body, _ = protojson.Marshal(message)
	}
	answer := dynamicpb.NewMessage(p.method.Output())
	p.conns.dialer.requests.Add(1)
	err = p.conns.next().Invoke(metadata.NewOutgoingContext(ctx, p.conns.header), p.path, message, answer, grpc.MaxCallRecvMsgSize(int(p.AtMost)))
	c.status = int(status.Code(err))
	c.sent = int64(proto.Size(message))
	if err != nil {
		return ofStatus(err)
	}
	c.received = int64(proto.Size(answer))
	if len(p.take) == 0 {
		return nil
	}
	body, err := protojson.Marshal(answer)
	if err != nil {
		return &KindError{Unexpected, err}
	}
	return p.take.from(c, body)
}

// ofStatus gives an error of gRPC its kind.
func ofStatus(err error) error {
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Canceled:
		return &KindError{Timeout, err}
	case codes.Unavailable:
		return &KindError{Reset, err}
	case codes.ResourceExhausted: // the answer is longer than AtMost, or the target says so
		return &KindError{Unexpected, err}
	}
	return &KindError{BadStatus, err}
}

// grpcConns are gRPC's connections, one for each 100 sessions that there may be at once.
type grpcConns struct {
	dialer *dialer
	header metadata.MD
	conns  []*grpc.ClientConn
	turn   atomic.Uint64
}

func (g *grpcConns) next() *grpc.ClientConn {
	return g.conns[g.turn.Add(1)%uint64(len(g.conns))]
}

func (g *grpcConns) close() {
	if g != nil {
		for _, c := range g.conns {
			c.Close()
		}
	}
}

// connectGRPC opens all connections.
func (r *run) connectGRPC(ctx context.Context) (*grpcConns, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	r.dialers[GRPC] = &dialer{plan: r.plan, protocol: GRPC, connecting: measure.NewRecorder()}
	g := &grpcConns{dialer: r.dialers[GRPC], header: metadata.MD{}}
	for name, values := range r.header {
		if name != "User-Agent" { // gRPC sends its own
			g.header.Set(name, values...)
		}
	}
	for range (r.Limits.InFlight + streams - 1) / streams {
		began := time.Now()
		c, err := r.dialGRPC()
		if err != nil {
			return g, err
		}
		g.conns = append(g.conns, c)
		c.Connect()
		for state := c.GetState(); state != connectivity.Ready; state = c.GetState() {
			if state == connectivity.TransientFailure || !c.WaitForStateChange(ctx, state) {
				g.close()
				return nil, fmt.Errorf("cannot connect to %s by gRPC", r.plan.Target)
			}
		}
		g.dialer.opened.Add(1)
		if r.scheme == "https" {
			g.dialer.handshakes.Add(1)
		}
		g.dialer.connecting.Record(0, time.Since(began))
	}
	return g, nil
}

func (r *run) dialGRPC() (*grpc.ClientConn, error) {
	secure := insecure.NewCredentials()
	if r.scheme == "https" {
		secure = credentials.NewTLS(r.options.tls())
	}
	dial := r.options.dial()
	return grpc.NewClient("passthrough:///"+r.address, grpc.WithTransportCredentials(secure), grpc.WithUserAgent("dewload"),
		grpc.WithAuthority(r.plan.host),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }))
}
