package scenariofile

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/load"
)

// methods are the keys of HTTP requests.
var methods = []string{"get", "post", "put", "patch", "delete", "head"}

// actions are the keys that say what a step does, of which it has one.
var actions = append(slices.Clone(methods), "websocket", "grpc", "think")

var stepKeys = append([]string{"name", "when", "unless", "each", "retry", "json", "body", "header", "send", "expect", "take"}, actions...)

// only are the keys that go with some actions alone.
var only = map[string][]string{
	"body":   methods,
	"header": append(slices.Clone(methods), "websocket", "grpc"),
	"send":   {"websocket"},
	"json":   append(slices.Clone(methods), "grpc"),
	"take":   append(slices.Clone(methods), "grpc"),
	"expect": append(slices.Clone(methods), "websocket", "grpc"),
	"retry":  append(slices.Clone(methods), "grpc"),
	"each":   append(slices.Clone(methods), "websocket", "grpc"),
}

func (f *File) step(n ast.Node, where string) load.Step {
	f.places[where] = n.GetToken()
	o := f.object(n, where, stepKeys...)
	s := load.Step{Name: o.text("name"), When: o.text("when"), Unless: o.text("unless")}
	action := f.action(o)
	for key, with := range only {
		if action != "" && o.has(key) && !slices.Contains(with, action) {
			f.fail(o.fields[key], "%s: does not go with %s, but with %s", key, action, strings.Join(with, ", "))
		}
	}
	if o.has("each") {
		s.Each = f.each(o)
	}
	if o.has("retry") {
		r := f.object(o.fields["retry"], o.path("retry"), "times", "wait")
		s.Retry = load.Retry{Times: r.integer("times", 1, 1000), Wait: r.duration("wait")}
	}
	switch {
	case action == "":
	case action == "think":
		t := f.object(o.fields["think"], o.path("think"), "median", "p95")
		s.Do = load.Think{Median: t.duration("median"), P95: t.duration("p95")}
	case action == "websocket":
		s.Do = f.socket(o)
	case action == "grpc":
		s.Do = f.procedure(o)
	default:
		s.Do = f.request(o, action)
	}
	if s.Name == "" && action != "think" {
		f.fail(n, "the step has no name: give name: TEXT")
	}
	return s
}

// action returns the key that says what a step does.
func (f *File) action(o *object) string {
	var given []string
	for _, key := range actions {
		if o.has(key) {
			given = append(given, key)
		}
	}
	switch len(given) {
	case 0:
		f.fail(o.node, "the step does nothing: give it one of %s", strings.Join(actions, ", "))
		return ""
	case 1:
		return given[0]
	}
	f.fail(o.fields[given[1]], "the step does %s: give it one", strings.Join(given, " and "))
	return ""
}

// each reads {ITEM: LIST, first: N, parallel: true}.
func (f *File) each(o *object) *load.Each {
	e := f.object(o.fields["each"], o.path("each"))
	out := &load.Each{Parallel: e.boolean("parallel")}
	if e.has("first") {
		out.First = e.integer("first", 1, 1_000_000)
	}
	for _, key := range e.order {
		switch {
		case key == "first" || key == "parallel":
		case out.Item != "":
			f.fail(e.fields[key], "each: %q and %q: give one name, as in {id: candidates}", out.Item, key)
		default:
			out.Item, out.List = key, e.text(key)
		}
	}
	if out.Item == "" {
		f.fail(o.fields["each"], "each: give a name and a list, as in {id: candidates}")
	}
	return out
}

func (f *File) request(o *object, method string) load.Request {
	r := load.Request{
		Method: strings.ToUpper(method), URL: o.text(method), Header: f.header(o), Take: o.texts("take"),
	}
	if o.has("body") {
		r.Body = []byte(o.text("body"))
	}
	if o.has("json") {
		if o.has("body") {
			f.fail(o.fields["json"], "json and body: give one")
		}
		r.JSON = f.value(o.fields["json"], o.path("json"))
	}
	if o.has("expect") {
		e := f.object(o.fields["expect"], o.path("expect"), "status", "type", "at_most")
		r.Expect = load.Expect{Type: e.text("type"), AtMost: f.size(e, "at_most")}
		if e.has("status") {
			r.Expect.Status = e.integer("status", 100, 599)
		}
	}
	return r
}

func (f *File) socket(o *object) load.Socket {
	s := load.Socket{URL: o.text("websocket"), Header: f.header(o)}
	if o.has("send") {
		m := f.object(o.fields["send"], o.path("send"), "text", "hex", "protobuf", "json")
		s.Send = load.Message{Text: m.text("text"), Protobuf: m.text("protobuf")}
		if m.has("json") {
			s.Send.JSON = f.value(m.fields["json"], m.path("json"))
		}
		if m.has("hex") {
			var err error
			if s.Send.Binary, err = hex.DecodeString(m.text("hex")); err != nil {
				f.fail(m.fields["hex"], "hex: %s: give pairs of 0 to 9 and a to f", what(m.fields["hex"]))
			}
		}
	}
	if o.has("expect") {
		e := f.object(o.fields["expect"], o.path("expect"), "messages", "within", "at_most")
		s.Messages, s.Within, s.AtMost = e.integer("messages", 0, 1_000_000), e.duration("within"), f.size(e, "at_most")
	}
	return s
}

func (f *File) procedure(o *object) load.Procedure {
	p := load.Procedure{Method: o.text("grpc"), Header: f.header(o), Take: o.texts("take")}
	if o.has("json") {
		p.JSON = f.value(o.fields["json"], o.path("json"))
	}
	if o.has("expect") {
		e := f.object(o.fields["expect"], o.path("expect"), "at_most")
		p.AtMost = f.size(e, "at_most")
	}
	return p
}

// size reads bytes, such as 64KiB.
func (f *File) size(o *object, key string) int64 {
	if !o.has(key) {
		return 0
	}
	n, err := amount.Parse(o.text(key))
	if err != nil || n < 1 {
		f.fail(o.fields[key], "%s: %s: give bytes, such as 64KiB", key, what(o.fields[key]))
		return 0
	}
	return n
}
