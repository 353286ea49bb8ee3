// Package bad39 reads datagrams into recycled buffers.
package bad39

import (
	"net"
	"sync"
)

type packet struct {
	b    []byte
	from net.Addr
}

var packets = sync.Pool{
	New: func() any { return &packet{b: make([]byte, 1500)} },
}

// Server receives datagrams.
type Server struct {
	pc     net.PacketConn
	handle func(from net.Addr, p []byte) // must not keep p
}

// Serve reads until the connection is closed.
func (s *Server) Serve() error {
	for {
		p := packets.Get().(*packet)
		n, from, err := s.pc.ReadFrom(p.b)
		if err != nil {
			packets.Put(p)
			return err
		}
		p.from = from
		s.handle(p.from, p.b[:n])
		packets.Put(p)
	}
}

// SetMTU changes the size of the buffers.
func SetMTU(mtu int) {
	packets.New = func() any { return &packet{b: make([]byte, mtu)} } // want `\(overwrite\)`
}

// Run serves and then widens the buffers for jumbo frames.
func Run(s *Server, jumbo bool) <-chan error {
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	if jumbo {
		SetMTU(9000)
	}
	return done
}
