package repocheck

import "testing"

// A test of the root module starts a process, one elsewhere is not in the table, and the table
// names what is not there.
func TestProcesses(t *testing.T) {
	breaks(t, `
-- CONTRIBUTING.md --
| package | starts |
| --- | --- |
| `+"`cmd/dewpond`"+` | itself |
| `+"`cmd/gone`"+` | itself |
-- dewtest/again.go --
package dewtest

import "os/exec" // allowed
-- offheap/child_test.go --
package offheap

import "os/exec"
-- cmd/dewpond/load_test.go --
package main

import "os/exec" // allowed
-- cmd/dewpond/internal/swarm/swarm.go --
package swarm

import "os/exec" // allowed: no test
-- cmd/dewpond/internal/swarm/swarm_test.go --
package swarm

import "github.com/rogpeppe/go-internal/testscript"
`,
		"CONTRIBUTING.md: process: there is no package cmd/gone",
		"cmd/dewpond/internal/swarm/swarm_test.go:3: process: github.com/rogpeppe/go-internal/testscript: name cmd/dewpond/internal/swarm in the table of CONTRIBUTING.md, and leave out with -short what starts a process",
		"offheap/child_test.go:3: process: os/exec: the root module starts no process, so that go test ./... is quick and needs nothing: move the test to instruments/proof/children",
	)
}
