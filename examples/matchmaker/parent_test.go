package main

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// The service ends with who has started it, where that says so.
func TestEndsWithParent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "serve", "--http=127.0.0.1:0", "--https=127.0.0.1:0", "--grpc=127.0.0.1:0", "--admin=127.0.0.1:0")
	c.Env = append(os.Environ(), asService+"=1", hasParent+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	in.Close()
	for lines.Scan() { // to the end of the service
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
