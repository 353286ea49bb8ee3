package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/signals"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/standin"
)

// asRig is set in the environment of this program where it is the rig.
const asRig = "MATCHMAKER_RIG"

// built builds the service once for all tests.
var built = sync.OnceValues(func() (p program, err error) {
	removeBuilt, err = p.build(context.Background())
	return p, err
})

var removeBuilt func() error

func TestMain(m *testing.M) {
	standin.RunChild(signals.Stop...) // this program is what a command starts for its stand-ins
	realserver.RunMonitor()           // and for its servers
	if os.Getenv(asRig) != "" {
		main()
		os.Exit(0)
	}
	code := m.Run()
	if removeBuilt != nil {
		removeBuilt()
	}
	os.Exit(code)
}

// startsProcesses skips a test that starts what is measured or what it stands on where -short leaves such tests out.
func startsProcesses(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
}

// service is the service's program.
func service(t *testing.T) program {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
