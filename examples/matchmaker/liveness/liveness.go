// Package liveness says whether the other end of an idle connection is still there, without
// asking it where the system can tell.
package liveness

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"
)

// The modes in which dead connections and servers are found.
const (
	Both     = "both"
	FastFail = "fastfail" // before a use: who uses one that is dead is told at once, or gets another
	Ping     = "ping"     // in the background
	Off      = "off"
)

// Valid refuses a mode that is none.
func Valid(mode string) error {
	if !slices.Contains([]string{Both, FastFail, Ping, Off}, mode) {
		return fmt.Errorf("--health %s: give %s, %s, %s or %s", mode, Both, FastFail, Ping, Off)
	}
	return nil
}

// Fails reports whether a mode looks before a use.
func Fails(mode string) bool { return mode == Both || mode == FastFail }

// Pings reports whether a mode looks in the background.
func Pings(mode string) bool { return mode == Both || mode == Ping }

// A state is what the system knows of a connection.
type state int

// The states.
const (
	unknown state = iota // the system cannot tell: ask
	quiet                // open, and nothing waits to be read
	waiting              // bytes wait: a notice, or the reason of a close that follows
	closed               // by the other end
)

// Alive reports whether a connection that nobody uses can be used. It peeks at the socket, which
// costs no round trip; where that does not say, it pings, within a time.
func Alive(ctx context.Context, c net.Conn, ping func(context.Context) error, within time.Duration) bool {
	switch peek(c) {
	case quiet:
		return true
	case closed:
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return ping(ctx) == nil
}

// raw returns the connection below TLS.
func raw(c net.Conn) net.Conn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return c
}
