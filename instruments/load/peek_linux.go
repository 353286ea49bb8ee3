package load

import (
	"net"
	"syscall"
)

// peek says what is to be read on a connection. It neither reads nor waits.
func peek(c net.Conn) readable {
	s, ok := c.(syscall.Conn)
	if !ok {
		return cannotTell
	}
	r, err := s.SyscallConn()
	if err != nil {
		return something
	}
	found := something
	var one [1]byte
	err = r.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err == syscall.EAGAIN || err == syscall.EINTR {
			found = nothing
		}
	})
	if err != nil {
		return something
	}
	return found
}
