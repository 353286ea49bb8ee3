package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dewpond/dewpond"
)

// A Request is an HTTP request, in the protocol of its session. Texts may have names in them, as
// in "/img/${id}.jpg", and so may the values of Header; "$${" stands for "${".
type Request struct {
	Method string // GET if it is empty
	URL    string // the path and the query, below the scenario's target
	// Header goes over the scenario's: a name that both have is this one's, and without values it
	// is not sent.
	Header http.Header
	// Body is sent with its names filled in, and no value is escaped. JSON, if it is not nil, is
	// sent instead, as encoding/json writes it; a text that is one name alone becomes its value
	// with its type.
	Body []byte
	JSON any
	// Expect says which answer is right.
	Expect Expect
	// Take gives names values from an answer in JSON, by JSON Pointers (RFC 6901) in which *
	// stands for all elements of a list.
	Take map[string]string
}

// Expect says which answer is right. A zero field expects nothing of its own.
type Expect struct {
	// Status is of HTTP. 0 is any from 200 to 399.
	Status int
	// Type is the media type, without parameters.
	Type string
	// AtMost is how many bytes the body may have. A longer one is cut there and is an error. 0
	// is no bound for what is only counted, and 1 MiB for what is taken from.
	AtMost int64
}

// mostTaken bounds an answer from which something is taken, if the scenario does not.
const mostTaken = 1 << 20

// blocks are what answers are read into.
var blocks = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "load"})

// readSize is how much of an answer is read at once where nobody looks at it.
const readSize = 32 << 10

// A request is a Request that is ready.
type request struct {
	Request
	plan   *plan
	target template
	fixed  *http.Request // without its body and context, if the target has no names
	header headers
	body   template
	plain  []byte // the body, if it has no names
	json   *tree
	take   takes
}

func (r Request) compile(c *compilation, to *planned) (err error) {
	out := &request{Request: r}
	if out.Method == "" {
		out.Method = "GET"
	}
	if !strings.HasPrefix(r.URL, "/") {
		return at(c.where+"."+strings.ToLower(out.Method), "%q is no path: begin it with /", r.URL)
	}
	if out.target, err = c.template("."+strings.ToLower(out.Method), r.URL); err != nil {
		return err
	}
	if out.header, err = c.headers(r.Header, false); err != nil {
		return err
	}
	if out.body, err = c.template(".body", string(r.Body)); err != nil {
		return err
	}
	if text, ok := out.body.plain(); ok {
		out.plain = []byte(text)
	}
	if r.JSON != nil {
		t, err := c.tree(".json", r.JSON)
		if err != nil {
			return err
		}
		out.json = &t
	}
	if err := r.Expect.validate(c.where + ".expect"); err != nil {
		return err
	}
	to.caller = out
	out.take, err = c.takes(r.Take)
	return err
}

func (e Expect) validate(where string) error {
	switch {
	case e.Status != 0 && (e.Status < 100 || e.Status > 599):
		return at(where+".status", "%d is no status: give 100 to 599", e.Status)
	case e.AtMost < 0:
		return at(where+".at_most", "%d bytes: give 1 or more, such as 64KiB", e.AtMost)
	}
	return nil
}

// prepare makes what all calls share.
func (r *request) prepare(_ context.Context, run *run) (err error) {
	r.plan = run.plan
	r.header.prepare(run)
	if r.json != nil && !r.header.has("Content-Type") {
		r.header.fixed.Set("Content-Type", "application/json")
	}
	if path, ok := r.target.plain(); ok {
		r.fixed, err = r.to(path)
	}
	return err
}

// to returns a request without its body and context, and with the header that no call changes.
func (r *request) to(path string) (*http.Request, error) {
	u, err := url.Parse(r.plan.scheme + "://" + r.plan.host + r.plan.base + path)
	return &http.Request{Method: r.Method, URL: u, Host: r.header.plainHost(r.plan), Header: r.header.fixed}, err
}

func (r *request) call(ctx context.Context, c *Call) error {
	message, err := r.message(ctx, c)
	if err != nil {
		return err
	}
	c.protocol, c.method, c.url = c.Protocol, r.Method, message.URL
	p := c.pool()
	deadline := c.began.Add(r.plan.Limits.Timeout)
	conn, h, waited, connecting, err := p.take(ctx, deadline)
	c.Waited(waited)
	c.connecting = connecting
	if err != nil {
		return err
	}
	defer p.give(conn)
	c.sent = message.ContentLength
	p.dialer.requests.Add(1)
	if c.Protocol != HTTP1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
		message = message.WithContext(ctx)
	}
	answer, err := h.RoundTrip(message, deadline)
	var again *againError
	for vain := 0; errors.As(err, &again) && vain < mostVain; {
		if !again.answered {
			vain++
		}
		if h, err = r.reopen(ctx, c, p, conn, deadline); err != nil {
			break
		}
		if message.Body != nil {
			message.Body = io.NopCloser(bytes.NewReader(c.body))
		}
		p.dialer.resent.Add(1)
		answer, err = h.RoundTrip(message, deadline)
	}
	if err != nil {
		return broken(err)
	}
	c.firstByte = time.Since(c.began) - c.waited
	c.status, c.answered = answer.StatusCode, true
	c.phases = answer.Header["Server-Timing"]
	whole, err := r.read(c, answer)
	if !whole {
		h.Discard()
	}
	if whole || c.Protocol != HTTP1 { // to close a body of HTTP/1.1 would be to read all of it
		answer.Body.Close()
	}
	if err != nil {
		return broken(err)
	}
	return nil
}

// mostVain bounds how often a request is sent again on a connection of which nobody has had an answer: a
// target may go away before each one. Where others have, the request's turn comes, or its deadline.
const mostVain = 5

// reopen returns the connection that takes the place of one that the target has closed. What it
// takes counts as waiting.
func (r *request) reopen(ctx context.Context, c *Call, p *pool, conn *conn, deadline time.Time) (exchanger, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	began := time.Now()
	h, err := p.connected(ctx, conn)
	took := time.Since(began)
	c.Waited(took)
	c.connecting += took
	return h, err
}

// broken gives what comes from a connection a kind: where nothing else is known, the connection
// broke.
func broken(err error) error {
	if errors.As(err, new(*KindError)) {
		return err
	}
	if kind := KindOf(err); kind != OtherFailed {
		return &KindError{kind, err}
	}
	return &KindError{Reset, err}
}

func (r *request) message(ctx context.Context, c *Call) (*http.Request, error) {
	m := r.fixed
	if m == nil {
		path, err := r.target.url(c)
		if err == nil {
			m, err = r.to(path)
		}
		if err != nil {
			return nil, unresolved(err)
		}
	}
	header, err := r.header.of(c)
	if err != nil {
		return nil, err
	}
	body, err := r.filled(c)
	if err != nil {
		return nil, err
	}
	host, err := r.header.hostOf(c)
	if err != nil {
		return nil, err
	}
	if len(r.header.named) > 0 || host != "" || len(body) > 0 {
		m = m.WithContext(ctx) // a copy
		m.Header = header
	}
	if host != "" {
		m.Host = host
	}
	if len(body) > 0 {
		m.Body, m.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		c.body = body
	}
	return m, nil
}

// filled returns the body of one call.
func (r *request) filled(c *Call) ([]byte, error) {
	if r.json != nil {
		v, err := r.json.value(c)
		if err != nil {
			return nil, unresolved(err)
		}
		body, err := json.Marshal(v)
		if err != nil {
			return nil, unresolved(err)
		}
		return body, nil
	}
	if r.plain != nil {
		return r.plain, nil
	}
	text, err := r.body.text(c)
	if err != nil {
		return nil, unresolved(err)
	}
	return []byte(text), nil
}

// unresolved is the error of a name that has no value in this session: an answer before lacked
// it.
func unresolved(err error) error { return &KindError{Unexpected, err} }

// read reads the answer and checks it. It reports whether it has read all of it.
func (r *request) read(c *Call, answer *http.Response) (whole bool, err error) {
	most := r.Expect.AtMost
	if most == 0 && len(r.take) > 0 {
		most = mostTaken
	}
	if len(r.take) == 0 {
		if err := r.count(c, answer.Body, most); err != nil {
			return false, err
		}
		return true, r.check(answer)
	}
	b := blocks.Buffer()
	defer b.Release()
	n, err := b.ReadFrom(io.LimitReader(answer.Body, most+1))
	c.received = min(n, most)
	switch {
	case err != nil:
		return false, err
	case n > most:
		return false, tooLong(most)
	}
	if err := r.check(answer); err != nil {
		return true, err
	}
	return true, r.take.from(c, b.Bytes())
}

// count reads the answer and keeps nothing of it.
func (r *request) count(c *Call, body io.Reader, most int64) error {
	if body == http.NoBody {
		return nil
	}
	block := blocks.Get(readSize)
	defer blocks.Put(block)
	for {
		n, err := body.Read(block)
		c.received += int64(n)
		if most > 0 && c.received > most {
			c.received = most
			return tooLong(most)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func tooLong(most int64) error {
	return failed(Unexpected, "the answer has more than %d bytes", most)
}

func (r *request) check(answer *http.Response) error {
	status := answer.StatusCode
	if want := r.Expect.Status; want != 0 && status != want || want == 0 && (status < 200 || status > 399) {
		return failed(BadStatus, "status %d of %s %s", status, r.Method, answer.Request.URL.Path)
	}
	if want := r.Expect.Type; want != "" {
		if got, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); got != want {
			return failed(Unexpected, "an answer of type %q, not %q", got, want)
		}
	}
	return nil
}
