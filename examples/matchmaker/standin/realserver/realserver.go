// Package realserver starts private servers of the real programs, where they are installed:
// a PostgreSQL on a fresh cluster, and Redis with a primary and replicas for each region. They are
// for tests, and for commands that measure.
//
// A process of its own, the monitor, starts them and waits for its standard input to end, which it
// does with whoever has asked for the servers, however that ends. Then it stops them and removes
// their files.
//
// They listen on the loopback address, which every user of the machine may reach, so they ask for a
// password: it is random, and on no command line.
package realserver

import (
	"errors"
	"fmt"

	"github.com/dewpond/dewpond/instruments/kit/child"
)

// A Spec says what to start.
type Spec struct {
	Postgres bool     `json:"postgres"`
	Regions  []string `json:"regions"`  // a Redis primary for each
	Replicas int      `json:"replicas"` // of each primary
}

// Addresses are where the servers listen, and what they are.
type Addresses struct {
	Postgres string `json:"postgres,omitempty"` // a DSN of a superuser, and an empty database
	Redis    string `json:"redis,omitempty"`    // as region.Parse reads it
	// RedisSecret is the password of all of them. A DSN has that of PostgreSQL.
	RedisSecret string `json:"redis_secret,omitempty"`

	AboutPostgres string `json:"about_postgres,omitempty"`
	AboutRedis    string `json:"about_redis,omitempty"`
}

// Servers are running.
type Servers struct {
	Addresses
	monitor *child.Process
}

// ErrMissing says that a program is not installed, and which.
var ErrMissing = errors.New("not installed")

// monitored names the environment variable by which a program knows that it is the monitor.
const monitored = "MATCHMAKER_REALSERVER"

var canMonitor bool

// An answer is what the monitor says, once.
type answer struct {
	Addresses
	Error string `json:"error,omitempty"`
}

// Start starts servers. If one of the programs is not there, the error is an [ErrMissing].
func Start(spec Spec) (*Servers, error) {
	if !canMonitor { // it would be started as itself, and start another
		panic("realserver: Start in a program that has not called RunMonitor")
	}
	if err := Installed(spec); err != nil {
		return nil, err
	}
	var a answer
	s := &Servers{}
	var err error
	if s.monitor, err = child.StartFor(monitored, spec, &a); err == nil && a.Error != "" {
		err = errors.Join(errors.New(a.Error), s.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("the servers did not start: %w", err)
	}
	s.Addresses = a.Addresses
	return s, nil
}

// PID is the process that has started the servers, and false if none was asked for.
func (s *Servers) PID() (int, bool) {
	if s == nil || s.monitor == nil {
		return 0, false
	}
	return s.monitor.PID(), true
}

// Close stops the servers, and returns when their files are gone.
func (s *Servers) Close() error {
	if s == nil || s.monitor == nil { // none was asked for
		return nil
	}
	return s.monitor.Close()
}

// Installed returns an [ErrMissing] if this machine cannot start what a Spec says.
func Installed(spec Spec) error {
	if spec.Postgres {
		if _, err := findPostgres(); err != nil {
			return err
		}
		if _, err := launcher(); err != nil {
			return err
		}
	}
	if len(spec.Regions) > 0 {
		if _, err := findRedis(); err != nil {
			return err
		}
	}
	return nil
}
