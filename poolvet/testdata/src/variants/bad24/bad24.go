// Package bad24 upgrades connections to a line protocol.
package bad24

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync"
)

var bufReaders sync.Pool

func newReader(c net.Conn) *bufio.Reader {
	if v := bufReaders.Get(); v != nil {
		br := v.(*bufio.Reader)
		br.Reset(c)
		return br
	}
	return bufio.NewReader(c)
}

type lineConn struct {
	net.Conn
	br *bufio.Reader
}

func (c *lineConn) Read(p []byte) (int, error) { return c.br.Read(p) }

// Upgrade takes the connection over and hands it to serve in the background.
func Upgrade(w http.ResponseWriter, r *http.Request, serve func(net.Conn)) error {
	hj, ok := w.(http.Hijacker)
	if !ok {
		return fmt.Errorf("%T cannot be hijacked", w)
	}
	conn, _, err := hj.Hijack()
	if err != nil {
		return err
	}
	br := newReader(conn)
	defer bufReaders.Put(br)

	hello, err := br.ReadString('\n')
	if err != nil {
		conn.Close()
		return err
	}
	if _, err := fmt.Fprintf(conn, "ok %s", hello); err != nil {
		conn.Close()
		return err
	}
	go serve(&lineConn{Conn: conn, br: br}) // want `\(returnput\)`
	return nil
}
