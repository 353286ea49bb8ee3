//go:build !linux

package load

import "net"

// peek cannot tell here.
func peek(net.Conn) readable { return cannotTell }
