package load

import (
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc/codes"
)

// Where a status has its place: HTTP's have three digits, and gRPC's codes come behind them.
const (
	rpcStatus   = 1000
	lastRPC     = rpcStatus + int(codes.Unauthenticated)
	otherStatus = lastRPC + 1 // of a target that makes its own
)

// answers counts what came back, and the bytes both ways.
type answers struct {
	statuses       [otherStatus + 1]atomic.Uint64
	sent, received atomic.Uint64
}

// add counts a call that has ended.
func (a *answers) add(c *Call) {
	if c.sent > 0 {
		a.sent.Add(uint64(c.sent))
	}
	if c.received > 0 {
		a.received.Add(uint64(c.received))
	}
	if c.answered {
		a.statuses[c.place()].Add(1)
	}
}

// place returns where the call's status is counted.
func (c *Call) place() int {
	place, last := c.status, rpcStatus-1
	if c.protocol == GRPC {
		place, last = rpcStatus+c.status, lastRPC
	}
	if place < 0 || place > last {
		return otherStatus
	}
	return place
}

// statusName returns a status as reports name it: 503, or Unavailable.
func statusName(place int) string {
	switch {
	case place == otherStatus:
		return "other"
	case place >= rpcStatus:
		return codes.Code(place - rpcStatus).String()
	}
	return strconv.Itoa(place)
}

// take returns the statuses since the last call, or nil.
func (a *answers) take() map[string]uint64 {
	var out map[string]uint64
	for place := range a.statuses {
		if n := a.statuses[place].Swap(0); n > 0 {
			if out == nil {
				out = map[string]uint64{}
			}
			out[statusName(place)] = n
		}
	}
	return out
}

// badStatuses are the errors of kind status.
type badStatuses struct {
	counts   map[string]uint64
	messages map[string]string // the first of each
}

func (b *badStatuses) add(status string, n uint64, message string) {
	if b.counts == nil {
		b.counts, b.messages = map[string]uint64{}, map[string]string{}
	}
	b.counts[status] += n
	if b.messages[status] == "" {
		b.messages[status] = message
	}
}

func addStatuses(to *map[string]uint64, from map[string]uint64) {
	for status, n := range from {
		if *to == nil {
			*to = map[string]uint64{}
		}
		(*to)[status] += n
	}
}
