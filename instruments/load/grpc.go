package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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

	"github.com/dewpond/dewpond/instruments/internal/secret"
	"github.com/dewpond/dewpond/instruments/kit"
)

// A Procedure is a unary gRPC call. Its messages are known by Options.Descriptors, or by the
// target's gRPC reflection.
type Procedure struct {
	Method string // package.Service/Method
	// Header is the call's metadata, over the scenario's header: see [Request]. gRPC sends what is not
	// ASCII in headers whose names end in -bin, and a User-Agent of its own.
	Header http.Header
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
	header headers
	fixed  metadata.MD // of what has no names in it
	conns  *grpcConns
	where  string // of the step
}

func (p Procedure) compile(c *compilation, to *planned) (err error) {
	out := &procedure{Procedure: p, where: c.where}
	if service, method, ok := strings.Cut(p.Method, "/"); !ok || service == "" || method == "" {
		return at(c.where+".grpc", "%q is no method: give package.Service/Method", p.Method)
	}
	if out.header, err = c.headers(p.Header, true); err != nil {
		return err
	}
	if out.tree, err = c.tree(".json", p.JSON); err != nil {
		return err
	}
	if out.AtMost == 0 {
		out.AtMost = mostTaken
	}
	to.caller = out
	out.take, err = c.takes(p.Take)
	return err
}

func (p *procedure) prepare(ctx context.Context, r *run) (err error) {
	if p.method, err = r.types(&p.header).method(ctx, p.Procedure.Method); err != nil {
		var invalid *InvalidError
		if errors.As(err, &invalid) && invalid.Where == "" {
			invalid.Where = p.where + ".grpc"
		}
		return err
	}
	p.path = fmt.Sprintf("/%s/%s", p.method.Parent().FullName(), p.method.Name())
	if err := checkMessage(p.method.Input(), p.tree, p.where+".json"); err != nil {
		return err
	}
	p.header.prepare(r)
	p.fixed = metadataOf(p.header.fixed)
	r.speaks(GRPC)
	host := p.header.plainHost(r.plan)
	if r.rpc[host] == nil {
		if r.rpc[host], err = r.connectGRPC(ctx, host); err != nil {
			return err
		}
	}
	p.conns = r.rpc[host]
	return nil
}

func (p *procedure) call(ctx context.Context, c *Call) error {
	c.protocol, c.method, c.path = GRPC, "POST", p.path
	message, err := fill(p.method.Input(), p.tree, c)
	if err != nil {
		return err
	}
	header, err := p.metadata(c)
	if err != nil {
		return err
	}
	if c.run.requests != nil { // in the form of a scenario's json; the size is sent's
		c.body, _ = protojson.Marshal(message)
	}
	answer := dynamicpb.NewMessage(p.method.Output())
	p.conns.dialer.requests.Add(1)
	err = p.conns.next().Invoke(metadata.NewOutgoingContext(ctx, header), p.path, message, answer, grpc.MaxCallRecvMsgSize(int(p.AtMost)))
	c.status, c.answered = int(status.Code(err)), true
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

// metadata returns the header of one call.
func (p *procedure) metadata(c *Call) (metadata.MD, error) {
	if len(p.header.named) == 0 {
		return p.fixed, nil
	}
	h, err := p.header.of(c)
	return metadataOf(h), err
}

func metadataOf(h http.Header) metadata.MD {
	m := metadata.MD{}
	for name, values := range h {
		if name != "User-Agent" { // gRPC sends its own
			m.Set(name, values...)
		}
	}
	return m
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

// grpcConns are gRPC's connections to ask for one host, one for each 100 sessions that there may be at once.
type grpcConns struct {
	dialer *dialer
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

// connectGRPC opens all connections to ask for a host.
func (r *run) connectGRPC(ctx context.Context, host string) (*grpcConns, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if r.dialers[GRPC] == nil {
		r.dialers[GRPC] = &dialer{plan: r.plan, protocol: GRPC, connecting: kit.NewRecorder()}
	}
	g := &grpcConns{dialer: r.dialers[GRPC]}
	for range (r.Limits.InFlight + streams - 1) / streams {
		c, err := r.dialGRPC(host)
		if err != nil {
			g.close()
			return nil, err
		}
		g.conns = append(g.conns, c)
	}
	err := openAll(ctx, len(g.conns), func(ctx context.Context, i int) error {
		began, c := time.Now(), g.conns[i]
		c.Connect()
		for state := c.GetState(); state != connectivity.Ready; state = c.GetState() {
			if state == connectivity.TransientFailure || !c.WaitForStateChange(ctx, state) {
				return fmt.Errorf("cannot connect to %s by gRPC", secret.Text(r.plan.Target))
			}
		}
		g.dialer.opened.Add(1)
		if r.scheme == "https" {
			g.dialer.handshakes.Add(1)
		}
		g.dialer.connecting.Record(i, time.Since(began))
		return nil
	})
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (r *run) dialGRPC(host string) (*grpc.ClientConn, error) {
	secure := insecure.NewCredentials()
	if r.scheme == "https" {
		name, _, _ := net.SplitHostPort(r.address)
		secure = certified{credentials.NewTLS(r.options.tls()), name}
	}
	dial := r.options.dial()
	return grpc.NewClient("passthrough:///"+r.address, grpc.WithTransportCredentials(secure), grpc.WithUserAgent("dewload"),
		grpc.WithAuthority(host),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }))
}

// certified are the credentials of a target by the name in its URL, whatever host it is asked for.
type certified struct {
	credentials.TransportCredentials
	name string
}

func (c certified) ClientHandshake(ctx context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c.TransportCredentials.ClientHandshake(ctx, c.name, conn)
}

func (c certified) Clone() credentials.TransportCredentials {
	return certified{c.TransportCredentials.Clone(), c.name}
}
