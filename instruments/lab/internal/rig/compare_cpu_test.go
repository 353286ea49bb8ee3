package rig

import (
	"bufio"
	"os/exec"
	"runtime"
	"testing"
)

// A shell starts another that counts, and then one that waits: both are in the first one's time,
// and what the second has used stays in it when that has ended.
func TestUsedBy(t *testing.T) {
	if usedBy() < 0 {
		t.Skip("no /proc on " + runtime.GOOS)
	}
	const counts = `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo counted`
	c := exec.Command("sh", "-c", `sh -c '`+counts+`; read x'; echo waited; read x; exit 0`)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	defer c.Wait()
	defer in.Close()
	said := bufio.NewScanner(out)
	said.Scan()
	alive := usedBy(c.Process.Pid)
	if said.Text() != "counted" || alive < tick {
		t.Errorf("%q: %v while the one that counted lives", said.Text(), alive)
	}
	in.Write([]byte("\n"))
	said.Scan()
	if ended := usedBy(c.Process.Pid); said.Text() != "waited" || ended < alive {
		t.Errorf("%q: %v when it has ended, %v before", said.Text(), ended, alive)
	}
	in.Write([]byte("\n"))
	if c.Wait(); usedBy(c.Process.Pid) >= 0 {
		t.Error("a process that has ended is found")
	}
}
