//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
)

// Ctrl-C reaches the whole process group, kill only the parent. After either, and after SIGTERM, the
// report shows what was measured, with the round that was cut short.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	for name, tt := range map[string]struct {
		group  bool
		signal syscall.Signal
		code   int
	}{
		"process group":          {true, syscall.SIGINT, 130},
		"parent only":            {false, syscall.SIGINT, 130},
		"SIGTERM, process group": {true, syscall.SIGTERM, 143},
		"SIGTERM, parent only":   {false, syscall.SIGTERM, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Nothing outside shows that the child's window is open, so a busy machine gets as
			// many chances as the test's timeout leaves time for.
			var blob []byte
			for delay := time.Second; blob == nil; delay *= 2 {
				blob = interrupted(t, tt.group, tt.signal, tt.code, delay)
			}
			var d bench.Document
			if err := json.Unmarshal(blob, &d); err != nil {
				t.Fatal(err)
			}
			if !d.Interrupted || len(d.Contenders) != 1 || d.Contenders[0].OpsPerSec.Median == 0 {
				t.Errorf("the document lacks what was measured: %s", blob)
			}
		})
	}
}

// interrupted runs one round of an hour and interrupts it. It returns the JSON, or nil if the interrupt
// came before anything was measured.
func interrupted(t *testing.T, group bool, signal syscall.Signal, code int, delay time.Duration) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "out.json")
	cmd, out, complaint := start(t, "bench", "mixed", "--contenders", "nop", "--goroutines", "8", "--duration", "1h", "--json", file)
	time.Sleep(delay)
	pid := cmd.Process.Pid
	if group {
		pid = -pid
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	err, exit := cmd.Wait(), new(exec.ExitError)
	if errors.As(err, &exit) && exit.ExitCode() == -1 { // ended by the signal, before it listened for it
		return nil
	}
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Fatalf("ended with %v, want exit code %d\n%s", err, code, complaint)
	}
	if strings.Contains(complaint.String(), "before anything was measured") {
		return nil
	}
	if !strings.Contains(out.String(), "Interrupted") {
		t.Errorf("the report does not say that it was interrupted:\n%s", out)
	}
	blob, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// start runs this test binary as dewpond, in a process group of its own.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, out, complaint *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, complaint = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.Command(exe, args...)
	cmd.Args[0] = "dewpond"
	cmd.Stdout, cmd.Stderr = out, complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out, complaint
}
