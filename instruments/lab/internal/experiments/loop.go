package experiments

import (
	"io"
	"net"
	"sync"
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

// A bufferedReader reads into a buffer of a pool, which it has while there is something in it.
type bufferedReader struct {
	from   io.Reader
	pool   *sync.Pool // of *[]byte
	buffer *[]byte
	unread []byte
	reads  int
}

func (b *bufferedReader) Read(p []byte) (int, error) {
	if len(b.unread) == 0 {
		b.buffer = b.pool.Get().(*[]byte)
		n, err := b.from.Read(*b.buffer)
		b.reads++
		b.unread = (*b.buffer)[:n]
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	if len(b.unread) == 0 {
		b.pool.Put(b.buffer)
		b.buffer = nil
	}
	return n, nil
}
