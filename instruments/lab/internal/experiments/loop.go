package experiments

import (
	"io"
	"net"
)

// newLoop returns a connection over loopback from which what s yields can be read without an end.
func newLoop(s io.Reader) (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		defer l.Close()
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		piece := make([]byte, 256<<10)
		for {
			n, _ := s.Read(piece)
			if _, err := c.Write(piece[:n]); err != nil { // the reader has gone
				return
			}
		}
	}()
	return net.Dial("tcp", l.Addr().String())
}

// A bufferedReader reads into a buffer of the caller's.
type bufferedReader struct {
	from   io.Reader
	buffer []byte
	unread []byte
	reads  int
}

func (b *bufferedReader) Read(p []byte) (int, error) {
	if len(b.unread) == 0 {
		n, err := b.from.Read(b.buffer)
		b.reads++
		b.unread = b.buffer[:n]
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	return n, nil
}
