package rig

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/plain"
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
	RunChild() // this program is what a command starts
	if os.Getenv(asRig) != "" {
		ctx, end := interrupt.Context()
		err := run(ctx, os.Args[1:])
		end()
		os.Exit(command.Exit("rig", err, plain.Text))
	}
	if os.Getenv(asHolder) != "" {
		panic(hold())
	}
	code := m.Run()
	if removeBuilt != nil {
		removeBuilt()
	}
	os.Exit(code)
}

// run runs a command, as the lab does.
func run(ctx context.Context, args []string) error {
	parsed, err := kong.Must(&Commands{}, kong.BindTo(ctx, (*context.Context)(nil))).Parse(args)
	if err != nil {
		return command.UsageError{Err: err}
	}
	return parsed.Run()
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
