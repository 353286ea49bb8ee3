// Package bad35 asks a metrics daemon over TCP.
package bad35

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"
)

// Client talks to the daemon.
type Client struct {
	conns sync.Pool
	addr  string
}

// NewClient makes a client for the address.
func NewClient(addr string) *Client {
	return &Client{addr: addr}
}

func (c *Client) dial() (net.Conn, error) {
	if conn, ok := c.conns.Get().(net.Conn); ok {
		return conn, nil
	}
	return net.DialTimeout("tcp", c.addr, 2*time.Second)
}

// Query sends one line and reads one.
func (c *Client) Query(name string) (string, error) {
	conn, err := c.dial()
	if err != nil {
		return "", err
	}
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(conn, "get %s\n", name); err != nil {
		conn.Close()
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		conn.Close()
		return "", err
	}
	c.conns.Put(conn) // want `\(unfit\)`
	return line, nil
}
