package load

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"
)

// An http1 is an HTTP/1.1 connection for one request at a time. It has no goroutines of its own,
// unlike net/http's, between which each request has to be handed: that takes half of the
// processor time.
type http1 struct {
	conn  net.Conn
	below net.Conn // conn, or what TLS is on
	in    *bufio.Reader
	out   *bufio.Writer
	used  time.Time
	again bool  // it has answered before
	err   error // why it cannot be used any more
}

func dialHTTP1(ctx context.Context, d *dialer) (*http1, error) {
	conn, err := d.transport.DialContext(ctx, "tcp", d.plan.address)
	if err != nil {
		return nil, err
	}
	below := conn
	if d.plan.scheme == "https" {
		config := d.transport.TLSClientConfig.Clone()
		config.NextProtos = []string{"http/1.1"}
		config.ServerName, _, _ = net.SplitHostPort(d.plan.address)
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		conn = secure
	}
	return &http1{conn: conn, below: below, in: bufio.NewReader(conn), out: bufio.NewWriter(conn), used: time.Now()}, nil
}

// idleCheck is for how long a connection is trusted that nobody has used, where the system cannot
// say whether there is something to be read. checkTime is how long it then takes to look whether the
// target has closed it.
const (
	idleCheck = time.Second
	checkTime = 50 * time.Microsecond
)

// errClosedIdle is why a connection cannot be used that the target has closed between two requests.
// That is no error of the target.
var errClosedIdle = errors.New("closed by the target while idle")

// Err returns why the connection cannot be used any more, or nil.
func (h *http1) Err() error {
	if h.err != nil {
		return h.err
	}
	switch peek(h.below) {
	case nothing:
		return nil
	case cannotTell:
		if time.Since(h.used) < idleCheck {
			return nil
		}
	}
	// What is there can be of TLS itself.
	h.conn.SetReadDeadline(time.Now().Add(checkTime))
	_, err := h.in.Peek(1)
	var network net.Error
	if !errors.As(err, &network) || !network.Timeout() { // it is closed, or speaks before it is asked
		h.fail(errClosedIdle)
	}
	h.used = time.Now()
	return h.err
}

func (h *http1) fail(err error) {
	h.err = err
	h.conn.Close()
}

// RoundTrip sends the request and returns the answer, whose body the caller reads to its end. A
// caller that does not calls Discard.
func (h *http1) RoundTrip(q *http.Request, deadline time.Time) (*http.Response, error) {
	answer, err := h.exchange(q, deadline)
	if err != nil {
		h.fail(err)
		return nil, err
	}
	if answer.Close {
		h.err = errors.New("closed by the target after its answer")
	}
	h.used, h.again = time.Now(), true
	return answer, nil
}

func (h *http1) exchange(q *http.Request, deadline time.Time) (*http.Response, error) {
	if err := h.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	err := q.Write(h.out)
	if err == nil {
		err = h.out.Flush()
	}
	if err == nil {
		_, err = h.in.Peek(1)
	}
	if err != nil {
		return nil, h.unanswered(q, err)
	}
	for {
		answer, err := http.ReadResponse(h.in, q)
		if err != nil || answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			return answer, err
		}
	}
}

// unanswered says of an error before the first byte of an answer whether the request may be sent
// again: the connection has answered before, the target has closed it, and the request changes
// nothing, so that it does no harm if the target did get it. net/http decides alike.
func (h *http1) unanswered(q *http.Request, err error) error {
	if !h.again || KindOf(err) != Reset {
		return err
	}
	switch q.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		if q.Body == nil {
			return &againError{err, true}
		}
	}
	return err
}

// Discard ends the use of a connection whose answer was not read to its end.
func (h *http1) Discard() { h.fail(errors.New("its last answer was cut")) }

// Close closes the connection. Others may be using it.
func (h *http1) Close() error { return h.conn.Close() }
