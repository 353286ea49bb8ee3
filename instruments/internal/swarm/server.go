package swarm

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Server is NATS within this process.
type Server struct {
	URL string
	// Token is what agents must have, and by which those elsewhere know the server.
	Token  string
	server *server.Server
}

// readyTime bounds how long it takes to be ready.
const readyTime = 30 * time.Second

// Serve starts a server on a port of loopback of its own. Other users of the machine lack its token.
func Serve() (*Server, error) {
	own := token{secret: rand.Text()}
	s, err := serve(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: own.secret})
	if err != nil {
		return nil, err
	}
	s.Token = own.String()
	return s, nil
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

// serve starts a server that stores nothing: streams are in memory, for the server ends with the
// process, and nobody can resume. It wants a directory to begin with, which is gone when it has begun, so
// that a process that is killed leaves none.
func serve(o *server.Options) (*Server, error) {
	clearOld(time.Now())
	dir, err := os.MkdirTemp("", directory+"*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = true, dir, true, true
	s := &Server{}
	if s.server, err = server.NewServer(o); err != nil {
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

// directory is how the names of the directories begin with which servers begin.
const directory = "dewload-nats-"

// clearOld removes those of processes that were killed before their server had begun.
func clearOld(now time.Time) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), directory+"*")) // the pattern is right
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && now.Sub(info.ModTime()) > 2*readyTime {
			os.RemoveAll(dir)
		}
	}
}

// Close ends the server.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
