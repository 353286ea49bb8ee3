package swarm

import (
	"context"
	"fmt"
	"net"
	"slices"
)

// dialer returns a function that opens connections to loopback and to these addresses, and to
// nothing else. It looks at the address that a name stands for.
func dialer(allow []string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		if slices.Contains(allow, address) {
			return d.DialContext(ctx, network, address)
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		if err != nil {
			return nil, err
		}
		for _, ip := range found {
			if !ip.IP.IsLoopback() {
				return nil, fmt.Errorf("this agent makes no requests to %s: start it with --allow %s", address, address)
			}
		}
		return d.DialContext(ctx, network, net.JoinHostPort(found[0].String(), port))
	}
}
