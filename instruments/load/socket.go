package load

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/dewpond/dewpond/instruments/kit"
)

// A Socket opens a WebSocket of its own, sends a message, waits for messages and closes it. Texts
// may have names in them, as in a [Request].
type Socket struct {
	URL string // the path and the query, below the scenario's target
	// Header is sent with the handshake, over the scenario's: see [Request]. Each call has its own
	// handshake.
	Header http.Header
	Send   Message
	// Messages is how many the target sends; 0 waits for none. Within bounds the wait for all of
	// them; 0 is the request's timeout alone.
	Messages int
	Within   time.Duration
	// AtMost is how many bytes a message may have; a longer one is an error. 0 is 32 KiB.
	AtMost int64
}

// A Message is what is sent. At most one of Text, Binary and Protobuf is not empty; if all are
// empty, nothing is sent.
type Message struct {
	Text   string
	Binary []byte
	// Protobuf is the full name of a message, which is sent in its binary form. JSON is its
	// value, as protojson reads it. The message is known by Options.Descriptors, or the target's
	// gRPC reflection.
	Protobuf string
	JSON     any
}

const mostMessage = 32 << 10

// A socket is a Socket that is ready.
type socket struct {
	Socket
	run    *run
	url    template
	header headers
	text   template
	tree   tree
	kind   protoreflect.MessageDescriptor
	where  string // of the step
	client *http.Client
	dialed *dialer
}

func (s Socket) compile(c *compilation, to *planned) (err error) {
	out := &socket{Socket: s, where: c.where}
	if out.AtMost == 0 {
		out.AtMost = mostMessage
	}
	if !strings.HasPrefix(s.URL, "/") {
		return at(c.where+".websocket", "%q is no path: begin it with /", s.URL)
	}
	if out.url, err = c.template(".websocket", s.URL); err != nil {
		return err
	}
	if out.header, err = c.headers(s.Header, false); err != nil {
		return err
	}
	if out.text, err = c.template(".send.text", s.Send.Text); err != nil {
		return err
	}
	if out.tree, err = c.tree(".send.json", s.Send.JSON); err != nil {
		return err
	}
	given := 0
	for _, is := range []bool{s.Send.Text != "", len(s.Send.Binary) > 0, s.Send.Protobuf != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return at(c.where+".send", "more than one message: give text, hex or protobuf")
	case s.Send.JSON != nil && s.Send.Protobuf == "":
		return at(c.where+".send.json", "json says what a protobuf has: also give protobuf, or send it as text")
	case s.Messages < 0 || s.Messages > 1e6:
		return at(c.where+".expect.messages", "%d messages: give 0 to 1000000", s.Messages)
	case s.Within < 0 || s.Within > mostTimeout:
		return at(c.where+".expect.within", "%v: give more than 0s and at most %v", s.Within, mostTimeout)
	}
	to.caller = out
	return nil
}

func (s *socket) prepare(ctx context.Context, r *run) (err error) {
	s.run = r
	s.header.prepare(r)
	r.speaks(WebSocket)
	if r.dialers[WebSocket] == nil {
		r.dialers[WebSocket] = &dialer{plan: r.plan, protocol: WebSocket, connecting: kit.NewRecorder()}
	}
	s.dialed = r.dialers[WebSocket]
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	s.client = &http.Client{Transport: &http.Transport{
		DialContext: r.options.dial(), TLSClientConfig: r.options.tls(), Protocols: &protocols, DisableKeepAlives: true,
	}}
	if s.Send.Protobuf == "" {
		return nil
	}
	if s.kind, err = r.types(&s.header).message(ctx, s.Send.Protobuf); err != nil {
		var invalid *InvalidError
		if errors.As(err, &invalid) && invalid.Where == "" {
			invalid.Where = s.where + ".send.protobuf"
		}
		return err
	}
	return checkMessage(s.kind, s.tree, s.where+".send.json")
}

func (s *socket) call(ctx context.Context, c *Call) error {
	path, err := s.url.url(c)
	if err != nil {
		return unresolved(err)
	}
	kind, message, err := s.message(c)
	if err != nil {
		return err
	}
	header, err := s.header.of(c)
	if err != nil {
		return err
	}
	host, err := s.header.hostOf(c)
	if err != nil {
		return err
	}
	if host == "" {
		host = s.header.plainHost(s.run.plan)
	}
	c.protocol, c.method, c.path = WebSocket, "GET", path
	conn, err := s.open(ctx, c, path, host, header)
	if err != nil {
		return err
	}
	defer s.run.sessions.Go(func() { conn.Close(websocket.StatusNormalClosure, "") }) // takes a round trip, which nobody waits for
	conn.SetReadLimit(s.AtMost)
	if kind != 0 {
		if err := conn.Write(ctx, kind, message); err != nil {
			return s.broken(ctx, err)
		}
		c.sent, c.body = int64(len(message)), message
	}
	return s.receive(ctx, c, conn)
}

// open opens the connection. What it takes counts as waiting.
func (s *socket) open(ctx context.Context, c *Call, path, host string, header http.Header) (*websocket.Conn, error) {
	began := time.Now()
	conn, answer, err := websocket.Dial(ctx, s.run.scheme+"://"+s.run.plan.host+s.run.base+path, &websocket.DialOptions{
		HTTPClient: s.client, HTTPHeader: header, Host: host,
	})
	took := time.Since(began)
	c.Waited(took)
	c.connecting = took
	if answer != nil {
		c.status, c.answered = answer.StatusCode, true
	}
	switch {
	case err == nil:
	case answer != nil && answer.StatusCode != http.StatusSwitchingProtocols:
		return nil, failed(BadStatus, "status %d, and no WebSocket", answer.StatusCode)
	default:
		return nil, broken(err)
	}
	s.dialed.requests.Add(1)
	s.dialed.opened.Add(1)
	if s.run.scheme == "https" {
		s.dialed.handshakes.Add(1)
	}
	s.dialed.connecting.Record(c.Number, took)
	return conn, nil
}

// message returns what is sent; kind 0 is nothing.
func (s *socket) message(c *Call) (kind websocket.MessageType, message []byte, err error) {
	switch {
	case s.Send.Text != "":
		text, err := s.text.text(c)
		if err != nil {
			return 0, nil, unresolved(err)
		}
		return websocket.MessageText, []byte(text), nil
	case s.kind != nil:
		message, err = encode(s.kind, s.tree, c)
		return websocket.MessageBinary, message, err
	case len(s.Send.Binary) > 0:
		return websocket.MessageBinary, s.Send.Binary, nil
	}
	return 0, nil, nil
}

func (s *socket) receive(ctx context.Context, c *Call, conn *websocket.Conn) error {
	if s.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Within)
		defer cancel()
	}
	for i := range s.Messages {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return s.broken(ctx, err)
		}
		if i == 0 {
			c.firstByte = time.Since(c.began) - c.waited
		}
		c.received += int64(len(message))
	}
	return nil
}

// broken gives an error of an open WebSocket its kind. A target that closes it says why.
func (s *socket) broken(ctx context.Context, err error) error {
	var closed websocket.CloseError
	switch {
	case ctx.Err() != nil:
		return &KindError{Timeout, err}
	case errors.As(err, &closed):
		return failed(Unexpected, "the target closed the WebSocket: %v %s", closed.Code, closed.Reason)
	case errors.Is(err, websocket.ErrMessageTooBig):
		return failed(Unexpected, "a message has more than %d bytes", s.AtMost)
	}
	return &KindError{Reset, err}
}

// encode returns a message of this kind in its binary form.
func encode(kind protoreflect.MessageDescriptor, value tree, v values) ([]byte, error) {
	m, err := fill(kind, value, v)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(m)
}

// fill returns a message of this kind with the value.
func fill(kind protoreflect.MessageDescriptor, value tree, v values) (*dynamicpb.Message, error) {
	m := dynamicpb.NewMessage(kind)
	filled, err := value.value(v)
	if err != nil {
		return nil, unresolved(err)
	}
	if filled == nil {
		return m, nil
	}
	text, err := json.Marshal(filled)
	if err == nil {
		err = protojson.Unmarshal(text, m)
	}
	if err != nil {
		return nil, &KindError{Unexpected, err}
	}
	return m, nil
}
