package load

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/dewpond/dewpond/instruments/internal/secret"
)

// headers are what the calls of a step send as their header: the scenario's, and over it the
// step's own.
type headers struct {
	fixed http.Header   // what has no names in it; no call changes it
	named []namedHeader // what is filled in for each call
	host  *template     // what the target is asked for; nil is its own host
	rpc   bool          // the header is gRPC's metadata
}

// A namedHeader is a header with names in one of its values.
type namedHeader struct {
	name   string
	values []template
}

// headers parses the header of a step, and wants all names in it to be known. What the scenario
// sends with every request is looked at for each step, since a name may be given between two.
func (c *compilation) headers(own http.Header, rpc bool) (headers, error) {
	out := headers{fixed: http.Header{}, rpc: rpc}
	for _, from := range []struct {
		where  string
		header http.Header
	}{{c.where + ".header", own}, {"header", c.scenario.Header}} {
		given := headers{fixed: http.Header{}, rpc: rpc}
		for _, name := range slices.Sorted(maps.Keys(from.header)) {
			canonical := http.CanonicalHeaderKey(name)
			if out.has(canonical) { // the step's own goes over the scenario's
				continue
			}
			if err := given.add(c, from.where+"."+name, canonical, from.header[name]); err != nil {
				return out, err
			}
		}
		maps.Copy(out.fixed, given.fixed)
		out.named = append(out.named, given.named...)
		if out.host == nil {
			out.host = given.host
		}
	}
	if out.host != nil && len(out.host.parts) == 0 { // it is left out
		out.host = nil
	}
	if c.basic != "" && !out.has("Authorization") {
		out.fixed["Authorization"] = []string{c.basic}
	}
	return out, nil
}

// add parses the values of a header. None is a header that is left out.
func (h *headers) add(c *compilation, where, name string, values []string) error {
	if !httpguts.ValidHeaderFieldName(name) || h.rpc && strings.Trim(name, rpcName) != "" {
		return at(where, "%q is no name of a header: give one of letters, digits and -, such as X-User", name)
	}
	if name == "Host" {
		return h.addHost(c, where, values)
	}
	named := namedHeader{name: name}
	var plain []string
	for _, value := range values {
		t, err := c.templateAt(where, value)
		if err != nil {
			return err
		}
		for _, p := range t.parts {
			if problem := h.unfit(name, p.text); problem != "" {
				return at(where, "the value has %s: it cannot be sent", problem)
			}
		}
		if text, ok := t.plain(); ok {
			plain = append(plain, text)
		}
		named.values = append(named.values, t)
	}
	if len(plain) == len(values) {
		h.fixed[name] = append(h.fixed[name], plain...)
	} else {
		h.named = append(h.named, named)
	}
	return nil
}

// rpcName is what the name of a header of gRPC may have.
const rpcName = "-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// addHost parses what is sent in the place of the target's host and port. No value is the target's.
func (h *headers) addHost(c *compilation, where string, values []string) (err error) {
	h.host = &template{}
	if len(values) == 0 {
		return nil
	}
	if *h.host, err = c.templateAt(where, values[0]); err != nil {
		return err
	}
	text, plain := h.host.plain()
	switch {
	case len(values) > 1:
		return at(where, "%d values: give one", len(values))
	case plain && !isHost(text):
		return at(where, "%q is no host: give a name, and a port if there is one, such as shop.example:8080", text)
	case !plain && h.rpc:
		return at(where, "%q: a gRPC connection has one host, so give a text without names", values[0])
	}
	return nil
}

func isHost(s string) bool { return s != "" && httpguts.ValidHostHeader(s) }

// plainHost returns what all calls ask for, or the target's own where each has another.
func (h *headers) plainHost(p *plan) string {
	if h.host != nil {
		if host, ok := h.host.plain(); ok {
			return host
		}
	}
	return p.host
}

// hostOf returns what one call asks for, if each has another, or an empty text.
func (h *headers) hostOf(v values) (string, error) {
	if h.host == nil {
		return "", nil
	}
	if _, plain := h.host.plain(); plain {
		return "", nil
	}
	host, err := h.host.text(v)
	if err != nil {
		return "", unresolved(err)
	}
	if !isHost(host) {
		return "", failed(Unexpected, "the header Host, with its names filled in, is no host: nothing was sent")
	}
	return host, nil
}

func (h *headers) has(name string) bool {
	if name == "Host" {
		return h.host != nil
	}
	_, fixed := h.fixed[name]
	return fixed || slices.ContainsFunc(h.named, func(n namedHeader) bool { return n.name == name })
}

// secretsOf returns what a step has filled in in the secret headers of a call: the target may
// repeat it.
func secretsOf(do caller, c *Call) (out []string) {
	var h *headers
	switch do := do.(type) {
	case *request:
		h = &do.header
	case *socket:
		h = &do.header
	case *procedure:
		h = &do.header
	default:
		return nil
	}
	for _, n := range h.named {
		for _, t := range n.values {
			if value, err := t.text(c); err == nil {
				out = append(out, secret.OfHeader(n.name, value)...)
			}
		}
	}
	return out
}

// prepare adds what a run sends with every request.
func (h *headers) prepare(r *run) {
	if !r.options.NoMark {
		h.fixed.Set(Mark, r.id)
	}
	if !h.has("User-Agent") {
		h.fixed.Set("User-Agent", "dewload")
	}
}

// unfit returns what a header's value has that cannot be sent, or an empty text.
func (h *headers) unfit(name, value string) string {
	switch {
	case h.rpc && strings.HasSuffix(name, "-Bin"): // gRPC encodes it
	case !httpguts.ValidHeaderFieldValue(value):
		return "a control character, such as a line end"
	case h.rpc && strings.IndexFunc(value, func(r rune) bool { return r > '~' }) >= 0:
		return "a character that is not ASCII, and gRPC sends those in headers whose names end in -bin"
	}
	return ""
}

// of returns the header of one call, which its caller does not change.
func (h *headers) of(v values) (http.Header, error) {
	if len(h.named) == 0 {
		return h.fixed, nil
	}
	out := maps.Clone(h.fixed)
	for _, n := range h.named {
		filled := make([]string, len(n.values))
		for i, t := range n.values {
			var err error
			if filled[i], err = t.text(v); err != nil {
				return nil, unresolved(err)
			}
			// A line end would begin a header, or a request, that the scenario does not have.
			if problem := h.unfit(n.name, filled[i]); problem != "" {
				return nil, failed(Unexpected, "the header %s, with its names filled in, has %s: nothing was sent", n.name, problem)
			}
		}
		out[n.name] = filled
	}
	return out, nil
}
