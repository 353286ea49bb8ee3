package command_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
)

func TestExit(t *testing.T) {
	plain := errors.New("the disk is full")
	missed := &command.Ending{Text: "a threshold was missed", Code: 3}
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, 0, ""},
		{plain, 1, "test: THE DISK IS FULL\n"},
		{command.UsageError{Err: plain}, 2, "test: THE DISK IS FULL\n"},
		{errors.Join(plain, command.UsageError{Err: plain}), 2, "test: THE DISK IS FULL\nTHE DISK IS FULL\n"},
		{fmt.Errorf("%w: p99", missed), 3, "test: A THRESHOLD WAS MISSED: P99\n"},
		{fmt.Errorf("the run: %w", interrupt.Error{Signal: os.Interrupt}), 130, "test: THE RUN: INTERRUPTED\n"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr := os.Stderr
		os.Stderr = w
		code := command.Exit("test", c.err, strings.ToUpper)
		os.Stderr = stderr
		w.Close()
		said, _ := io.ReadAll(r)
		if code != c.code || string(said) != c.says {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.err, code, said, c.code, c.says)
		}
	}
}
