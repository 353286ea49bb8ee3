package rig

import (
	"fmt"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
)

// Values of the flags.
const (
	auto    = "auto"    // private where it can be, else a stand-in
	private = "private" // a server of its own, which ends with the command
	standIn = "standin"
)

// backendFlags are those of a command that has the service use a PostgreSQL and the Redis servers of its regions.
type backendFlags struct {
	Postgres string `default:"auto" env:"MATCHMAKER_POSTGRES" placeholder:"DSN" help:"Use the PostgreSQL at DSN; private starts a server, standin starts a stand-in, and auto is private where PostgreSQL is installed and standin elsewhere (default ${default})."`
	Redis    string `default:"auto" env:"MATCHMAKER_REDIS" placeholder:"REGIONS" help:"Use the Redis servers of REGIONS, as in cn-east=HOST:PORT+REPLICA:PORT,us-west=HOST:PORT, or private, standin or auto, as for --postgres (default ${default})."`
}

// redisPassword is the variable that has the password of --redis, here and of the service.
const redisPassword = "MATCHMAKER_REDIS_PASSWORD"

// connectWithin is how long a PostgreSQL has to answer.
const connectWithin = 4 * time.Second

// privately starts the private servers that two flags ask for, and sets the flags to where they
// are. A flag without a value is auto. What it returns is to be closed, and says what the servers
// are.
func privately(postgres, redis *string, spec realserver.Spec) (*realserver.Servers, error) {
	wanted := realserver.Spec{Replicas: spec.Replicas}
	var err error
	if wanted.Postgres, err = wants("--postgres", postgres, realserver.Spec{Postgres: true}); err != nil {
		return nil, err
	}
	ofRedis, err := wants("--redis", redis, realserver.Spec{Regions: spec.Regions})
	if err != nil {
		return nil, err
	}
	if ofRedis {
		wanted.Regions = spec.Regions
	}
	if !wanted.Postgres && !ofRedis {
		return &realserver.Servers{}, nil
	}
	s, err := realserver.Start(wanted)
	if err != nil {
		return nil, err
	}
	if wanted.Postgres {
		*postgres = s.Postgres
	}
	if ofRedis {
		*redis = s.Redis
	}
	return s, nil
}

// wants reports whether a flag asks for a private server. One that cannot be is a stand-in, if that
// is all the same.
func wants(name string, flag *string, spec realserver.Spec) (bool, error) {
	if *flag != auto && *flag != private && *flag != "" {
		return false, nil
	}
	err := realserver.Installed(spec)
	if err != nil && *flag == private {
		return false, command.UsageError{Err: fmt.Errorf("%s %s: %w; install it, or give %s standin or the address of a server", name, private, err, name)}
	}
	if err != nil {
		*flag = standIn
	}
	return err == nil, nil
}

// about says what answers: what a private server is, or what it is else.
func about(private, address, name string) string {
	switch {
	case private != "":
		return private
	case address == standIn:
		return name + " stand-in"
	}
	return strings.TrimSpace(name + " server " + address)
}

// primaryOf is the address of the first region's primary.
func primaryOf(regions string) string {
	_, nodes, ok := strings.Cut(regions, "=")
	if !ok {
		return regions
	}
	nodes, _, _ = strings.Cut(nodes, ",")
	primary, _, _ := strings.Cut(nodes, "+")
	return primary
}
