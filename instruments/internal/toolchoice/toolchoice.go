// Package toolchoice says which load generator to take. It is pure.
package toolchoice

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/amount"
)

// A Need is what the load shall be.
type Need struct {
	Rate     amount.Rate `placeholder:"N/s" help:"Requests per second, such as 200/s; 0 is as many as the target takes."`
	Protocol string      `default:"http/1.1" placeholder:"NAME" help:"Protocol: http/1.1, h2c, h2, websocket or grpc."`
	Session  bool        `help:"The load is sessions of dependent steps, not one request repeated."`
	Tail     bool        `help:"P99 and beyond must be what users would see."`
	Script   bool        `help:"The scenario needs a programming language."`
	Agents   int         `default:"1" placeholder:"N" help:"Generate the load on N machines."`
}

// An Answer is one tool and why.
type Answer struct {
	Tool, Reason string
	// Limit is how many sessions a second one generator was taken to make, and Measured reports
	// whether that was measured here.
	Limit    float64
	Measured bool
}

// The limits of one machine are of the order that one processor does, where nobody has measured
// them.
const (
	closedLimit = 100_000 // requests a second of wrk and h2load
	openLimit   = 10_000  // sessions a second of a generator in Go
)

// Limits are the highest rates that this machine's generator was measured to keep up with, by
// protocol. One that is absent was not measured.
type Limits map[string]float64

// of returns the limit for a protocol, and whether it was measured.
func (l Limits) of(protocol string) (rate float64, measured bool) {
	if protocol == "h2" {
		protocol = "h2c" // TLS costs a handshake for each connection, and little for each request
	}
	if rate, measured = l[protocol]; measured && rate > 0 {
		return rate, true
	}
	return openLimit, false
}

var protocols = []string{"http/1.1", "h2c", "h2", "websocket", "grpc"}

// Choose returns the simplest tool that does what is needed.
func Choose(n Need, l Limits) (Answer, error) {
	limit, measured := l.of(n.Protocol)
	a, err := choose(n, limit)
	a.Limit, a.Measured = limit, measured
	return a, err
}

func choose(n Need, limit float64) (Answer, error) {
	tool := func(name, reason string) (Answer, error) { return Answer{Tool: name, Reason: reason}, nil }
	switch {
	case !slices.Contains(protocols, n.Protocol):
		return Answer{}, fmt.Errorf("%q is no protocol: give %s", n.Protocol, strings.Join(protocols, ", "))
	case !(n.Rate >= 0) || n.Rate > 1e9:
		return Answer{}, errors.New("--rate: give requests a second, 0 to 1e9")
	case n.Agents < 1:
		return Answer{}, errors.New("--agents: give 1 or more")
	}
	http := n.Protocol == "http/1.1" || n.Protocol == "h2c" || n.Protocol == "h2"
	each := float64(n.Rate) / float64(n.Agents)
	switch {
	case n.Script && n.Protocol != "h2c":
		return tool("k6", "it has a language, and an arrival rate that the target cannot slow down; its licence is AGPL")
	case n.Script:
		return tool("dewload", "a step of its own in Go: k6 does not speak h2c")
	case each > limit && (n.Tail || n.Session || !http):
		return tool("dewload", fmt.Sprintf("with %.0f machines or more: one generator makes about %.0f sessions a second", math.Ceil(float64(n.Rate)/limit), limit))
	case n.Session:
		return tool("dewload", "a session of dependent steps, each counted from when it was due")
	case n.Agents > 1:
		return tool("dewload", "it has agents, one schedule for all of them, and one report of them; percentiles of several tools cannot be averaged")
	case n.Protocol == "websocket":
		return tool("dewload", "wrk, h2load, hey and vegeta speak no WebSocket")
	case n.Protocol == "grpc" && n.Tail:
		return tool("dewload", "each call is counted from when it was due; what ghz prints for a target that stalls was not measured here")
	case n.Protocol == "grpc":
		return tool("ghz", "one unary call again and again, from reflection or proto files")
	case n.Tail && n.Protocol == "http/1.1":
		return tool("vegeta", "one URL at a fixed rate, counted from when it was due; dewload does it too, and tells what of the tail it made itself")
	case n.Tail:
		return tool("dewload", "an open model over HTTP/2: h2load's --rps waits for answers")
	case n.Protocol == "http/1.1" && (n.Rate == 0 || each > closedLimit):
		return tool("wrk", "the most that one connection pool can do: the target sets the rate")
	case n.Rate == 0 || each > closedLimit:
		return tool("h2load", "the most that HTTP/2 can do: the target sets the rate")
	case n.Protocol == "http/1.1" && each <= limit:
		return tool("hey", "a quick look at one URL; its tail leaves out what waits for a stalled target")
	case n.Protocol == "http/1.1":
		return tool("wrk", "more than a generator in Go makes; it has no rate, and corrects its tail by a model")
	}
	return tool("h2load", "HTTP/2 at a rate, where the tail does not matter")
}
