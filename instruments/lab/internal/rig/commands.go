// Package rig has the lab's commands that measure examples/matchmaker, which they start as a process
// and ask on its ports, and what that service stands on.
package rig

import (
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
)

// Commands are the commands, for kong, which is given a context.Context to bind.
type Commands struct {
	Compare  compareCommand  `cmd:"" group:"service" help:"Measure the service with each of the measures that a publication recommends, and without."`
	Flood    floodCommand    `cmd:"" group:"service" help:"Play a burst and the evening peak on each variant, and say what broke, what was shed and when all was back."`
	Pools    poolsCommand    `cmd:"" group:"service" help:"Show what the bounds of a connection pool do, simulated and measured."`
	Outage   outageCommand   `cmd:"" group:"service" help:"Break PostgreSQL and Redis, and count the errors in each mode of the service's --health."`
	Clients  clientsCommand  `cmd:"" group:"service" help:"Compare three Go clients of PostgreSQL."`
	Client   clientCommand   `cmd:"" hidden:""`
	HotKey   hotKeyCommand   `cmd:"" name:"hotkey" group:"service" help:"Ask Redis for one key at a rate, with a local cache and without, and show where its one processor ends."`
	Warm     warmCommand     `cmd:"" group:"service" help:"Measure the first second of the service, with warm connections and without."`
	Soak     soakCommand     `cmd:"" group:"service" help:"Load the service while its servers fail, and check that nothing grows or is lost."`
	Guard    guardCommand    `cmd:"" group:"service" help:"Load the service with guarded blocks and without, and compare its memory."`
	Pressure pressureCommand `cmd:"" group:"service" help:"Measure the service where memory is scarce, with features that turn off and without."`
}

// RunChild does the work of a process that a command has started for its stand-ins or its servers,
// and exits then. In any other process it returns at once. main calls it first.
func RunChild() {
	standin.RunChild()
	realserver.RunMonitor()
}
