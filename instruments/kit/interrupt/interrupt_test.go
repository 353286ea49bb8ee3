//go:build unix

package interrupt

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// Each signal ends the context, and is its cause. A SIGTERM after it does nothing.
func TestContext(t *testing.T) {
	for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		ctx, end := Context()
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Signal(s); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		// This process outlives another SIGTERM.
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		end()
		var e Error
		if cause := context.Cause(ctx); !errors.As(cause, &e) || e.ExitCode() != want {
			t.Errorf("after %v the cause is %v, with exit code %d", s, cause, e.ExitCode())
		}
	}
	ctx, end := Context()
	end()
	if cause := context.Cause(ctx); cause != context.Canceled {
		t.Errorf("after its end the cause is %v", cause)
	}
}
