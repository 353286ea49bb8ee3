package liveness

import (
	"net"
	"syscall"
)

// peek says what is to be read on a connection, and reads nothing. It waits for nobody: where a
// write is slow, pgx has a goroutine that goes on reading until something comes, and meanwhile
// holds the right to read, which RawConn.Read would wait for. So this asks by Control.
func peek(c net.Conn) state {
	s, ok := raw(c).(syscall.Conn)
	if !ok {
		return unknown
	}
	r, err := s.SyscallConn()
	if err != nil {
		return closed
	}
	found := closed
	var one [1]byte
	err = r.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == syscall.EAGAIN || err == syscall.EINTR:
			found = quiet
		case err == nil && n > 0:
			found = waiting
		}
	})
	if err != nil {
		return closed
	}
	return found
}
