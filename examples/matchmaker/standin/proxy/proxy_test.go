package proxy

import (
	"bufio"
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// through returns a proxy before a server that sends back what it gets.
func through(t *testing.T) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	p, err := New(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); l.Close() })
	return p
}

func dial(t *testing.T, p *Proxy) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

// says sends a line, and wants it back.
func says(t *testing.T, c net.Conn, r *bufio.Reader, line string) {
	t.Helper()
	io.WriteString(c, line)
	if got, err := r.ReadString('\n'); got != line || err != nil {
		t.Errorf("%q, %v; want %q", got, err, line)
	}
}

func TestHang(t *testing.T) {
	p := through(t)
	c, r := dial(t, p)
	says(t, c, r, "before\n")
	p.Hang(true)
	io.WriteString(c, "meanwhile\n")
	answered := make(chan string)
	go func() {
		line, _ := r.ReadString('\n')
		answered <- line
	}()
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case line := <-answered:
		t.Errorf("%q is passed on while it hangs", line)
	default:
	}
	p.Hang(false)
	if line := <-answered; line != "meanwhile\n" {
		t.Errorf("%q, want what came meanwhile", line)
	}
}

func TestDropKillRefuse(t *testing.T) {
	p := through(t)
	c, r := dial(t, p)
	p.Drop(true)
	io.WriteString(c, "lost\n")
	for p.lost() < len("lost\n") {
		runtime.Gosched()
	}
	p.Drop(false)
	says(t, c, r, "found\n")
	p.Delay(time.Millisecond)
	says(t, c, r, "late\n")
	p.Delay(0)

	other, from := dial(t, p)
	says(t, other, from, "two\n")
	if n := p.Kill(); n != 2 {
		t.Errorf("%d connections are killed, want 2", n)
	}
	for _, reader := range []*bufio.Reader{r, from} {
		if line, err := reader.ReadString('\n'); err == nil {
			t.Errorf("%q from a connection that was killed", line)
		}
	}
	p.Refuse(true)
	if c, err := net.Dial("tcp", p.Addr()); err == nil {
		if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			t.Error("a connection that was refused answers")
		}
		c.Close()
	}
	p.Refuse(false)
	c, r = dial(t, p)
	says(t, c, r, "back\n")
}
