package rig

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What a server says that calls itself a PostgreSQL does not move the cursor of who measures it.
func TestErrorsDoNotObey(t *testing.T) {
	startsProcesses(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 1<<10))
			said := "SFATAL\x00C28000\x00M\x1b]0;PWNED\x07\x1b[2J\x00\x00"
			io.WriteString(c, "E\x00\x00\x00"+string(rune(4+len(said)))+said)
			c.Close()
		}
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.Background(), self, "clients", "--postgres=postgres://u@"+l.Addr().String()+"/d?sslmode=disable")
	c.Env = append(os.Environ(), asRig+"=1")
	said, err := c.CombinedOutput()
	if err == nil || strings.Contains(string(said), "\x1b") || !strings.Contains(string(said), "PWNED") {
		t.Errorf("%v: %q", err, said)
	}
}
