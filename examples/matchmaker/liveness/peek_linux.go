package liveness

import (
	"net"
	"syscall"
)

// Peek says what is to be read on a connection, and reads nothing. It waits for nobody: where a
// write is slow, pgx has a goroutine that goes on reading until something comes, and meanwhile
// holds the right to read, which RawConn.Read would wait for. So this asks by Control.
func Peek(c net.Conn) State {
	s, ok := raw(c).(syscall.Conn)
	if !ok {
		return Unknown
	}
	r, err := s.SyscallConn()
	if err != nil {
		return Closed
	}
	state := Closed
	var one [1]byte
	err = r.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == syscall.EAGAIN || err == syscall.EINTR:
			state = Quiet
		case err == nil && n > 0:
			state = Waiting
		}
	})
	if err != nil {
		return Closed
	}
	return state
}
