package repocheck

import "testing"

func TestGuests(t *testing.T) {
	breaks(t, `
-- go.work --
use (
	.
	./cmd/dewpond
	./lab
	./load
)
-- load/go.mod --
module github.com/dewpond/dewpond/load
-- lab/go.mod --
module github.com/dewpond/dewpond/lab
-- load/run.go --
package load

import (
	"github.com/nats-io/nats.go"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/exp/trace"
	"golang.org/x/exp/tracer" // another package
)
-- load/cmd/dewload/agent_test.go --
package main

import "github.com/nats-io/nats-server/v2/server"
-- load/internal/swarm/agent.go --
package swarm

import "github.com/nats-io/nats.go/jetstream" // allowed
-- load/internal/target/trace_test.go --
package target_test

import (
	"github.com/prometheus/common/expfmt" // allowed
	"golang.org/x/exp/trace" // allowed
)
-- lab/claims.go --
package main

import "golang.org/x/exp/trace" // allowed: this is not load
`,
		"load/run.go:4: guest: github.com/nats-io/nats.go: only load/internal/swarm imports it",
		"load/run.go:5: guest: github.com/prometheus/common/expfmt: only load/internal/target imports it",
		"load/run.go:6: guest: golang.org/x/exp/trace: only load/internal/target imports it",
		"load/cmd/dewload/agent_test.go:3: guest: github.com/nats-io/nats-server/v2/server: only load/internal/swarm imports it",
	)
}
