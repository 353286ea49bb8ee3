package load

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
)

// streams is how many requests an HTTP/2 connection has at once at most: what servers must allow
// at least, by RFC 9113.
const streams = 100

// A pool is the connections of one protocol. Whoever makes a request takes a token first, which is
// the right to one request on one connection. Tokens are in a queue, so the first who waits is
// the first who is served, and all connections are used alike.
type pool struct {
	dialer *dialer
	conns  []*conn
	tokens chan *conn
	closed atomic.Bool
}

// A dialer opens the connections of one protocol, and counts them.
type dialer struct {
	transport *http.Transport
	plan      *plan
	protocol  Protocol

	opened, handshakes, requests atomic.Uint64
	waits                        atomic.Uint64 // requests that found no free connection
	resent, idle                 atomic.Uint64 // requests that were sent again, and connections that were closed while idle
	connecting                   *kit.Recorder
	gathered                     [5]uint64 // requests, opened, handshakes, resent and idle that were in a result
}

// A conn is a connection, which is opened again where it broke.
type conn struct {
	// lock has room for the one who may read or replace http. It is no mutex, for who waits for
	// it has a deadline.
	lock chan struct{}
	http exchanger // nil before the first request
}

// An exchanger is a connection of either version of HTTP.
type exchanger interface {
	RoundTrip(q *http.Request, deadline time.Time) (*http.Response, error)
	Discard()
	Err() error
	Close() error
}

func newDialer(p *plan, protocol Protocol, o *Options) *dialer {
	d := &dialer{plan: p, protocol: protocol, connecting: kit.NewRecorder()}
	d.transport = &http.Transport{
		Protocols:          new(http.Protocols),
		DisableCompression: true, // bytes count as they are sent
		DialContext:        o.dial(),
		TLSClientConfig:    o.tls(),
	}
	switch protocol {
	case H2C:
		d.transport.Protocols.SetUnencryptedHTTP2(true)
	case H2:
		d.transport.Protocols.SetHTTP2(true)
	default:
		d.transport.Protocols.SetHTTP1(true)
	}
	return d
}

// pool returns a pool of n connections. Each is opened by the first who needs it.
func (d *dialer) pool(n int) *pool {
	each := 1
	if d.protocol != HTTP1 {
		each = streams
	}
	p := &pool{dialer: d, tokens: make(chan *conn, n*each)}
	for range n {
		p.conns = append(p.conns, &conn{lock: make(chan struct{}, 1)})
	}
	for range each {
		for _, c := range p.conns {
			p.tokens <- c
		}
	}
	return p
}

// opensAtOnce is how many connections are being opened at a time: fewer than the shortest queue in which
// a target keeps those that it has not accepted yet.
const opensAtOnce = 32

// open opens every connection.
func (p *pool) open(ctx context.Context) error {
	return openAll(ctx, len(p.conns), func(ctx context.Context, i int) error {
		_, err := p.connected(ctx, p.conns[i])
		return err
	})
}

// openAll opens n connections, some at a time: far from the target, one after the other takes long. It
// returns the first error, which ends the others, when none is being opened any more.
func openAll(ctx context.Context, n int, open func(ctx context.Context, i int) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var first error
	var failed sync.Once
	var next atomic.Int64
	var opening sync.WaitGroup
	for range min(opensAtOnce, n) {
		opening.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := open(ctx, int(i)); err != nil {
					failed.Do(func() { first = err }) // what the others have then is that it ended them
					end()
					return
				}
			}
		})
	}
	opening.Wait()
	return first
}

// take returns a connection on which a request may be made now, how long the caller has waited
// for it, and how much of that went into opening it. The caller gives it back.
func (p *pool) take(ctx context.Context, deadline time.Time) (c *conn, h exchanger, waited, connecting time.Duration, err error) {
	select {
	case c = <-p.tokens:
		select {
		case c.lock <- struct{}{}:
			h = c.http
			<-c.lock
			if h != nil && h.Err() == nil {
				return c, h, 0, 0, nil
			}
		default:
		}
	default:
	}
	began := time.Now()
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if c == nil {
		p.dialer.waits.Add(1)
		select {
		case c = <-p.tokens:
		case <-ctx.Done():
			return nil, nil, time.Since(began), 0, ctx.Err()
		}
	}
	opening := time.Now()
	if h, err = p.connected(ctx, c); err != nil {
		p.give(c)
		return nil, nil, time.Since(began), time.Since(opening), err
	}
	return c, h, time.Since(began), time.Since(opening), nil
}

func (p *pool) give(c *conn) { p.tokens <- c }

// connected returns the connection, and opens it if it is not.
func (p *pool) connected(ctx context.Context, c *conn) (exchanger, error) {
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.lock }()
	if p.closed.Load() { // what broke was closed on this side
		return nil, net.ErrClosed
	}
	if c.http != nil && c.http.Err() == nil {
		return c.http, nil
	}
	began := time.Now()
	d := p.dialer
	h, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	if c.http != nil && errors.Is(c.http.Err(), errClosedIdle) {
		d.idle.Add(1)
	}
	d.opened.Add(1)
	if d.plan.scheme == "https" {
		d.handshakes.Add(1)
	}
	d.connecting.Record(int(d.opened.Load()), time.Since(began))
	c.http = h
	return h, nil
}

func (d *dialer) dial(ctx context.Context) (exchanger, error) {
	if d.protocol == HTTP1 {
		h, err := dialHTTP1(ctx, d)
		if err != nil {
			return nil, err
		}
		return h, nil
	}
	h, err := d.transport.NewClientConn(ctx, d.plan.scheme, d.plan.address)
	if err != nil {
		return nil, err
	}
	return &http2{ClientConn: h}, nil
}

// close closes every connection, which ends the requests that are on their way.
func (p *pool) close() {
	p.closed.Store(true)
	for _, c := range p.conns {
		c.lock <- struct{}{}
		if c.http != nil {
			c.http.Close()
		}
		<-c.lock
	}
}

// dial returns the function that opens network connections.
func (o *Options) dial() func(context.Context, string, string) (net.Conn, error) {
	if o.Dial != nil {
		return o.Dial
	}
	return (&net.Dialer{}).DialContext
}

func (o *Options) tls() *tls.Config {
	return &tls.Config{InsecureSkipVerify: o.Insecure, RootCAs: o.RootCAs}
}
