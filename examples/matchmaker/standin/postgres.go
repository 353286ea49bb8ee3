package standin

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A Postgres speaks PostgreSQL's protocol and answers the service's statements, and no other,
// from maps.
type Postgres struct {
	listener net.Listener
	data     *database
	serving  sync.WaitGroup

	mu             sync.Mutex        // held for a change of what follows
	conns          map[net.Conn]bool // false: one too many, which is told so
	taken          int
	most, reserved int
	closed         bool
	gate           chan struct{} // closed where the server answers; a hung one closes it later
	service        func() time.Duration
	slots          chan struct{} // taken for the service of one statement; nil: no bound
}

// NewPostgres starts one on a free port of 127.0.0.1, with a stock server's bounds.
func NewPostgres() (*Postgres, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Postgres{most: 100, reserved: 3, listener: l, data: newDatabase(), conns: map[net.Conn]bool{}, gate: make(chan struct{})}
	close(p.gate)
	p.serving.Go(p.accept)
	return p, nil
}

// DSN is where it is, as pgx wants it.
func (p *Postgres) DSN() string {
	return fmt.Sprintf("postgres://matchmaker@%s/matchmaker?sslmode=disable", p.listener.Addr())
}

// Bound sets how many connections are taken, of which reserved are for superusers.
func (p *Postgres) Bound(most, reserved int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most, p.reserved = most, reserved
}

// Connections is how many clients are connected.
func (p *Postgres) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Hang has the server answer nothing, until Resume: connections are taken in, and stay open.
func (p *Postgres) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
		p.gate = make(chan struct{})
	default: // it hangs
	}
}

// Resume ends Hang. What has come meanwhile is answered.
func (p *Postgres) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// Serve has every statement take a time of its own, and at most so many at once; 0 slots are no
// bound.
func (p *Postgres) Serve(slots int, service func() time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.service, p.slots = service, nil
	if slots > 0 {
		p.slots = make(chan struct{}, slots)
	}
}

// await waits while the server hangs.
func (p *Postgres) await() {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	<-gate
}

// work takes the time that a statement takes.
func (p *Postgres) work() {
	p.mu.Lock()
	service, slots := p.service, p.slots
	p.mu.Unlock()
	if service == nil {
		return
	}
	if slots != nil {
		slots <- struct{}{}
		defer func() { <-slots }()
	}
	time.Sleep(service())
}

// Kill closes all connections, as an administrator does, and returns how many there were.
func (p *Postgres) Kill() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	return p.taken
}

// Close ends it and waits for its goroutines.
func (p *Postgres) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.Resume()
	p.Kill()
	p.serving.Wait()
}

func (p *Postgres) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		full := p.taken >= p.most-p.reserved
		if p.closed {
			c.Close()
		} else {
			p.conns[c] = !full
			if !full {
				p.taken++
			}
			p.serving.Go(func() { p.serve(c, full) })
		}
		p.mu.Unlock()
	}
}

func (p *Postgres) serve(c net.Conn, full bool) {
	defer func() {
		c.Close()
		p.mu.Lock()
		if p.conns[c] {
			p.taken--
		}
		delete(p.conns, c)
		p.mu.Unlock()
	}()
	s := &session{
		Backend: pgproto3.NewBackend(c, c), postgres: p, types: pgtype.NewMap(),
		prepared: map[string]statement{}, portals: map[string]portal{},
	}
	if !s.greet(c, full) {
		return
	}
	for {
		m, err := s.Receive()
		if err != nil {
			return
		}
		if _, ok := m.(*pgproto3.Terminate); ok {
			return
		}
		p.await()
		if s.answer(m) != nil {
			return
		}
	}
}

// greet takes the client in. There is no TLS and no password.
func (s *session) greet(c net.Conn, full bool) bool {
	for {
		m, err := s.ReceiveStartupMessage()
		if err != nil {
			return false
		}
		switch m.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := c.Write([]byte("N")); err != nil {
				return false
			}
		case *pgproto3.StartupMessage:
			if full {
				s.fail("53300", "sorry, too many clients already")
				s.Flush()
				return false
			}
			s.Send(&pgproto3.AuthenticationOk{})
			for name, value := range map[string]string{
				"server_version": "15.0 (stand-in)", "client_encoding": "UTF8", "standard_conforming_strings": "on",
				"DateStyle": "ISO, MDY", "TimeZone": "UTC", "integer_datetimes": "on",
			} {
				s.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
			}
			s.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
			s.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return s.Flush() == nil
		default: // a CancelRequest: nothing here takes long enough
			return false
		}
	}
}

// lookup finds a statement by its text.
func (p *Postgres) lookup(sql string) (statement, error) {
	if s, ok := statements[sql]; ok {
		return s, nil
	}
	if sql == store.SelectConnections {
		return statement{nil, []column{{"current_setting", int4}, {"current_setting", int4}}, "SELECT", func(*database, []any) ([][]any, *fault) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return [][]any{{int32(p.most), int32(p.reserved)}}, nil
		}}, nil
	}
	return statement{}, errors.New("the stand-in answers the service's statements only, and not: " + sql)
}
