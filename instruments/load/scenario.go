package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Scenario says what one session does, and when sessions begin. [Run] does not change it.
type Scenario struct {
	// Name is the report's title.
	Name string
	// Target is where the session's paths are, such as http://127.0.0.1:8080. The schemes ws and grpc
	// are http by another name, and wss and grpcs are https: each step says what it speaks. What stands before the
	// host, as in http://USER:PASSWORD@host, is sent as Authorization where no header says it.
	Target string
	// Arrivals say when sessions begin.
	Arrivals Arrivals
	// Protocols are the shares of sessions that speak each version of HTTP. None is HTTP/1.1
	// for all.
	Protocols []Share
	// Connections is how many HTTP connections there are in all, open before the first arrival:
	// each protocol has its share, and one at least. 0 is 64, and [EachSession] opens one for
	// each session.
	Connections int
	// Limits bound the run.
	Limits Limits
	// Header is sent with every HTTP request, WebSocket handshake and gRPC call. Host is what the
	// target is asked for; TLS and the connection are with the host of Target.
	Header http.Header
	// Descriptors are compiled protobuf descriptors, as protoc's --descriptor_set_out writes them with
	// --include_imports. With these the target is not asked for its types by gRPC reflection, which a
	// proxy may not pass on. Options.Descriptors goes before them.
	Descriptors []byte
	// Data is drawn anew for each session.
	Data []Data
	// Session is what a session does, in order.
	Session []Step
	// Thresholds are what the result must keep.
	Thresholds []Threshold
	// Abort ends the run early. The zero value never does.
	Abort Abort
}

// EachSession, as a Scenario's Connections, opens a connection for each session and closes it at
// its end, as browsers do.
const EachSession = -1

// A Share is a part of the sessions.
type Share struct {
	Protocol Protocol // HTTP1, H2C or H2
	// Weight is relative to the other shares: 70 and 30 are 70 and 30 %.
	Weight float64
}

// A Protocol is a version of HTTP, or what speaks beside it.
type Protocol string

const (
	HTTP1     Protocol = "http/1.1"
	H2C       Protocol = "h2c" // HTTP/2 without TLS, by prior knowledge
	H2        Protocol = "h2"  // HTTP/2 over TLS
	WebSocket Protocol = "websocket"
	GRPC      Protocol = "grpc"
)

// Limits bound a run. A zero field has its default.
type Limits struct {
	// InFlight is how many sessions there may be at once. An arrival beyond is dropped, and
	// counted. The default is 2000.
	InFlight int
	// Timeout bounds each request, from the moment it is begun. The default is 5 s; 60 s is the
	// most.
	Timeout time.Duration
}

const (
	defaultConnections = 64
	mostConnections    = 1_000_000
	defaultInFlight    = 2000
	mostInFlight       = 1_000_000
	defaultTimeout     = 5 * time.Second
	mostTimeout        = 60 * time.Second // what a recorder holds
)

// withDefaults returns the scenario with every default filled in.
func (s Scenario) withDefaults() Scenario {
	if s.Arrivals.Process == "" {
		s.Arrivals.Process = Constant
	}
	if len(s.Protocols) == 0 {
		s.Protocols = []Share{{HTTP1, 1}}
	}
	if s.Connections == 0 {
		s.Connections = defaultConnections
	}
	if s.Limits.InFlight == 0 {
		s.Limits.InFlight = defaultInFlight
	}
	if s.Limits.Timeout == 0 {
		s.Limits.Timeout = defaultTimeout
	}
	return s
}

// Validate returns an [*InvalidError] that names the first mistake, or nil.
func (s Scenario) Validate() error {
	_, err := s.compile()
	return err
}

func (s *Scenario) validate() (*url.URL, error) {
	if err := s.Arrivals.validate(); err != nil {
		return nil, err
	}
	target, err := parseTarget(s.Target)
	if err != nil {
		return nil, err
	}
	if err := s.validateShares(target); err != nil {
		return nil, err
	}
	switch {
	case s.Connections < EachSession || s.Connections > mostConnections:
		return nil, at("connections", "%d connections: give 1 to %d, or each", s.Connections, mostConnections)
	case s.Connections > 0 && s.Connections < len(s.Protocols):
		return nil, at("connections", "%d for %d protocols: each needs one at least", s.Connections, len(s.Protocols))
	case s.Limits.InFlight < 0 || s.Limits.InFlight > mostInFlight:
		return nil, at("limits.in_flight", "%d sessions in flight: give 1 to %d", s.Limits.InFlight, mostInFlight)
	case s.Limits.Timeout < time.Millisecond || s.Limits.Timeout > mostTimeout:
		return nil, at("limits.timeout", "a timeout of %v: give %v to %v", s.Limits.Timeout, time.Millisecond, mostTimeout)
	case len(s.Session) == 0:
		return nil, at("session", "it has no step: give one at least")
	}
	if len(s.Descriptors) > 0 {
		if _, err := parseDescriptors(s.Descriptors); err != nil {
			return nil, at("descriptors", "%v", err)
		}
	}
	return target, nil
}

// schemes are those that a target may have, and what connections to it are. A target speaks all
// protocols: the steps say which.
var schemes = map[string]string{"http": "http", "https": "https", "ws": "http", "wss": "https", "grpc": "http", "grpcs": "https"}

// parseTarget returns a target with the scheme of its connections: http or https.
func parseTarget(target string) (*url.URL, error) {
	if !strings.Contains(target, "://") {
		return nil, at("target", "%q is no URL: begin with http:// or https://, as in http://127.0.0.1:8080", target)
	}
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return nil, at("target", "%q is no URL: %v", target, err)
	case schemes[u.Scheme] == "":
		return nil, at("target", "%q: no step speaks %s: begin with http:// or https://; ws://, wss://, grpc:// and grpcs:// are understood, too", target, u.Scheme)
	case u.Host == "":
		return nil, at("target", "%q has no host: give one, such as http://127.0.0.1:8080", target)
	}
	u.Scheme = schemes[u.Scheme]
	return u, nil
}

func (s *Scenario) validateShares(target *url.URL) error {
	all := 0.0
	seen := map[Protocol]bool{}
	for _, share := range s.Protocols {
		where := "protocols"
		needs := map[Protocol]string{HTTP1: target.Scheme, H2C: "http", H2: "https"}[share.Protocol]
		switch {
		case needs == "":
			return at(where, "%q is no protocol of sessions: give %s, %s or %s (a step of its own speaks WebSocket or gRPC)", share.Protocol, HTTP1, H2C, H2)
		case seen[share.Protocol]:
			return at(where, "%s has two shares: give one", share.Protocol)
		case !(share.Weight >= 0 && share.Weight <= 1e9):
			return at(where, "%v is no share of %s: give a number from 0", share.Weight, share.Protocol)
		case needs != target.Scheme:
			return at(where, "%s needs a target of %s://, and this one is %s", share.Protocol, needs, s.Target)
		}
		seen[share.Protocol] = true
		all += share.Weight
	}
	if all == 0 {
		return at("protocols", "all shares are 0: give one that is more")
	}
	return nil
}

// protocol returns the protocol at x of the way, from 0 to 1, through all shares.
func (s *Scenario) protocol(x float64) Protocol {
	all := 0.0
	for _, share := range s.Protocols {
		all += share.Weight
	}
	x *= all
	for _, share := range s.Protocols {
		if x -= share.Weight; x < 0 {
			return share.Protocol
		}
	}
	return s.Protocols[len(s.Protocols)-1].Protocol
}

// connectionsOf deals the connections to the protocols by their shares, one at least, and never
// more than there are.
func (s *Scenario) connectionsOf() map[Protocol]int {
	of := map[Protocol]int{}
	if s.Connections == EachSession {
		return of
	}
	all, left := 0.0, s.Connections
	for _, share := range s.Protocols {
		if share.Weight > 0 {
			all += share.Weight
			of[share.Protocol] = 1
			left--
		}
	}
	spare := left
	for _, share := range s.Protocols {
		if share.Weight > 0 {
			more := int(share.Weight / all * float64(spare))
			of[share.Protocol] += more
			left -= more
		}
	}
	of[s.largest()] += left // what rounding leaves
	return of
}

func (s *Scenario) largest() Protocol {
	return slices.MaxFunc(s.Protocols, func(a, b Share) int {
		switch {
		case a.Weight < b.Weight:
			return -1
		case a.Weight > b.Weight:
			return 1
		}
		return 0
	}).Protocol
}

// urlStep is the name of a URL's only step.
const urlStep = "request"

// ParseConnections reads a number of connections, or "each" for [EachSession].
func ParseConnections(s string) (int, error) {
	if s == "each" {
		return EachSession, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > mostConnections {
		return 0, fmt.Errorf("%q: give 1 to %d, or each", s, mostConnections)
	}
	return n, nil
}

// Get returns the scenario of a URL: a session is one GET of it, or of ws:// and wss:// a WebSocket
// that is opened and closed, or of grpc://HOST/package.Service/Method and grpcs:// a call with an
// empty message. 100 are due each second, for 10 s.
func Get(rawURL string) (Scenario, error) {
	u, err := parseTarget(rawURL)
	if err != nil {
		return Scenario{}, err
	}
	scheme, _, _ := strings.Cut(strings.ToLower(rawURL), "://")
	path := u.RequestURI()
	s := Scenario{
		Name:     "GET " + path,
		Target:   (&url.URL{Scheme: scheme, User: u.User, Host: u.Host}).String(),
		Arrivals: Arrivals{Rate: 100, Duration: 10 * time.Second, Seed: 1},
	}
	var do Action = Request{Method: "GET", URL: literal(path)}
	switch scheme {
	case "ws", "wss":
		s.Name, do = "WebSocket "+path, Socket{URL: literal(path)}
	case "grpc", "grpcs":
		method := strings.Trim(u.Path, "/")
		if strings.Count(method, "/") != 1 {
			return Scenario{}, at("target", "%q names no method: give %s://%s/package.Service/Method", rawURL, scheme, u.Host)
		}
		s.Name, do = "gRPC "+method, Procedure{Method: method}
	}
	s.Session = []Step{{Name: urlStep, Do: do}}
	return s, nil
}

// Send makes the scenario of a URL, as [Get] returns it, send the body as it is: by POST, as the
// message of its WebSocket, or as that of its gRPC call, in JSON.
func (s *Scenario) Send(body string) error {
	notURL := errors.New("goes with a URL; a scenario says itself what it sends")
	if len(s.Session) != 1 || s.Session[0].Name != urlStep {
		return notURL
	}
	do := s.Session[0].Do
	switch q := do.(type) { // a URL draws nothing that could be filled in
	case Request:
		q.Method, q.Body = "POST", []byte(literal(body))
		s.Name = strings.Replace(s.Name, "GET", "POST", 1)
		do = q
	case Socket:
		q.Send.Text = literal(body)
		do = q
	case Procedure:
		d := json.NewDecoder(strings.NewReader(body))
		d.UseNumber()
		if err := d.Decode(&q.JSON); err != nil {
			return fmt.Errorf("a gRPC message is given in JSON: %w", err)
		}
		q.JSON = literals(q.JSON)
		do = q
	default:
		return notURL
	}
	s.Session = []Step{{Name: urlStep, Do: do}}
	return nil
}
