package swarm

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Server is NATS within this process.
type Server struct {
	URL string
	// Token is what agents must have, and by which they know the server; empty on loopback.
	Token  string
	server *server.Server
	dir    string
}

// readyTime bounds how long it takes to be ready.
const readyTime = 30 * time.Second

// Serve starts a server on a port of loopback of its own.
func Serve() (*Server, error) {
	return serve(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
}

// Listen starts a server that agents on other machines come to: it speaks TLS, and takes only
// those that have its token. Port 0 is one of its own.
func Listen(address string) (*Server, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q is no port: give 0 to 65535", text)
	}
	port := int(n)
	if port == 0 {
		port = server.RANDOM_PORT
	}
	probe, err := net.Listen("tcp", address) // the server itself would only say that it does not start
	if err != nil {
		return nil, err
	}
	probe.Close()
	certificate, token, err := newToken()
	if err != nil {
		return nil, err
	}
	s, err := serve(&server.Options{
		Host: host, Port: port, Authorization: token.secret,
		TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
	})
	if err != nil {
		return nil, err
	}
	s.Token = token.String()
	return s, nil
}

func serve(o *server.Options) (*Server, error) {
	dir, err := os.MkdirTemp("", "dewload")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = true, dir, true, true
	if s.server, err = server.NewServer(o); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	s.server.Start()
	if !s.server.ReadyForConnections(readyTime) {
		s.Close()
		return nil, fmt.Errorf("the NATS within does not start on %s", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
	}
	s.URL = s.server.ClientURL()
	return s, nil
}

// Close ends the server and removes what it stored.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
	os.RemoveAll(s.dir)
}
