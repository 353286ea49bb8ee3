// Package bad10 calls a flaky key server.
package bad10

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"
)

type reply struct{ raw []byte }

func (r *reply) payload() []byte { return r.raw }

type replyPool struct{ p sync.Pool }

func (rp *replyPool) acquire() *reply {
	r, ok := rp.p.Get().(*reply)
	if !ok {
		r = new(reply)
	}
	return r
}

func (rp *replyPool) release(r *reply) {
	r.raw = r.raw[:0]
	rp.p.Put(r)
}

// Client asks one server.
type Client struct {
	addr    string
	replies replyPool
}

func retry(n int, fn func() error) (err error) {
	for i := range n {
		if err = fn(); err == nil {
			return nil
		}
		time.Sleep(time.Duration(i) * time.Second)
	}
	return err
}

// Lookup gets the value for a key.
func (c *Client) Lookup(key string) ([]byte, error) {
	var val []byte
	err := retry(3, func() error {
		rep := c.replies.acquire()
		defer c.replies.release(rep)
		conn, err := net.DialTimeout("tcp", c.addr, time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		conn.Write([]byte(key + "\n"))
		line, err := bufio.NewReader(conn).ReadSlice('\n')
		if err != nil {
			return err
		}
		rep.raw = append(rep.raw, line[1:]...)
		if line[0] != '+' {
			return errors.New("key server refused")
		}
		val = rep.payload() // want `\(returnput\)`
		return nil
	})
	return val, err
}
