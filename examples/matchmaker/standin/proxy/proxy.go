// Package proxy passes connections on to a server, and plays what can go wrong on the way.
package proxy

import (
	"net"
	"sync"
	"time"
)

// A Proxy listens on an address of its own. Its methods may be called by several goroutines at
// once.
type Proxy struct {
	listener net.Listener
	target   string
	serving  sync.WaitGroup

	mu      sync.Mutex // held for a change of what follows
	changed *sync.Cond
	conns   map[net.Conn]bool // both ends of each
	closed  bool
	refuse  bool
	hang    bool
	drop    bool
	delay   time.Duration
	dropped int // bytes
}

// lost is how many bytes were lost so far.
func (p *Proxy) lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// New starts a proxy on a free port of 127.0.0.1.
func New(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.serving.Go(p.accept)
	return p, nil
}

// Addr is where it listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// Hang passes nothing on while it is on; later, all that has come.
func (p *Proxy) Hang(on bool) { p.set(func() { p.hang = on }) }

// Drop loses all that comes while it is on. A connection that has lost something is of no use
// later.
func (p *Proxy) Drop(on bool) { p.set(func() { p.drop = on }) }

// Delay has all that comes wait for a time, in each direction.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Refuse closes new connections while it is on, as the machine of a server that is not there.
func (p *Proxy) Refuse(on bool) { p.set(func() { p.refuse = on }) }

// Kill closes all connections, and returns how many there were.
func (p *Proxy) Kill() (n int) {
	p.set(func() {
		n = len(p.conns) / 2
		for c := range p.conns {
			c.Close()
		}
	})
	return n
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() {
	p.set(func() { p.closed, p.hang = true, false })
	p.listener.Close()
	p.Kill()
	p.serving.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refuse := p.refuse || p.closed
		p.mu.Unlock()
		if refuse {
			c.Close()
			continue
		}
		p.serving.Go(func() { p.serve(c) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	gone := false
	p.set(func() {
		if gone = p.closed; !gone {
			p.conns[client], p.conns[server] = true, true
		}
	})
	if !gone {
		var passing sync.WaitGroup
		passing.Go(func() { p.pass(client, server) })
		p.pass(server, client)
		passing.Wait()
	}
	client.Close()
	server.Close()
	p.set(func() { delete(p.conns, client); delete(p.conns, server) })
}

// pass passes on what comes until an end closes, and then closes both.
func (p *Proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			drop, delay := p.await(n)
			time.Sleep(delay)
			if !drop {
				if _, err := to.Write(b[:n]); err != nil {
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// await waits while nothing is passed on, with n bytes.
func (p *Proxy) await(n int) (drop bool, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.hang {
		p.changed.Wait()
	}
	if p.drop {
		p.dropped += n
	}
	return p.drop, p.delay
}
