package rig

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
)

// asHolder in the environment makes this program one that has built the service and runs it, until it is
// killed.
const asHolder = "MATCHMAKER_RIG_HOLDS"

// hold says "ready" when it has all that the commands have.
func hold() error {
	var p program
	if _, err := p.build(context.Background()); err != nil {
		return err
	}
	if _, err := p.start(context.Background(), nil); err != nil {
		return err
	}
	os.Stdout.WriteString("ready\n")
	select {}
}

// The service of a command that is killed ends with it.
func TestServiceEndsWithItsCommand(t *testing.T) {
	startsProcesses(t)
	t.Setenv("TMPDIR", t.TempDir())
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asHolder+"=1")
	c.Stderr = os.Stderr
	all, w, err := os.Pipe() // ends when the service has ended too, which inherits it
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	c.ExtraFiles = []*os.File{w}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(line, err)
	}
	c.Process.Kill()
	c.Wait()
	io.Copy(io.Discard, all) // or this test does not end
}
