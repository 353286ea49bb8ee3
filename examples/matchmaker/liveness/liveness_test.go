package liveness

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"
)

// pair returns both ends of a connection.
func pair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestPeek(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system cannot tell: every connection is pinged")
	}
	client, server := pair(t)
	until := func(want state) {
		for peek(client) != want {
			runtime.Gosched()
		}
	}
	until(quiet)
	server.Write([]byte("x"))
	until(waiting)
	var b [1]byte
	if n, err := client.Read(b[:]); n != 1 || err != nil {
		t.Fatalf("what was peeked at is gone: %d bytes, %v", n, err)
	}
	until(quiet)
	server.Close()
	until(closed)
	if _, other := pair(t); peek(other) != quiet {
		t.Error("a connection of another pair")
	}
	client.Close()
	if peek(client) != closed {
		t.Error("this end has closed it")
	}
	if peek(new(net.IPConn)) == quiet {
		t.Error("nothing is open there")
	}
}

// A peek waits for no reader: one that waits for bytes may wait forever.
func TestPeekBesideAReader(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system cannot tell: every connection is pinged")
	}
	client, server := pair(t)
	raw, err := client.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	reads, over, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		raw.Read(func(uintptr) bool {
			close(reads)
			<-over
			return true
		})
	}()
	<-reads
	if s := peek(client); s != quiet {
		t.Errorf("%d, want %d", s, quiet)
	}
	server.Close()
	for peek(client) != closed {
		runtime.Gosched()
	}
	close(over)
	<-done
}

// A connection is asked only where its socket does not say.
func TestAlive(t *testing.T) {
	client, server := pair(t)
	asked := 0
	answer := error(nil)
	ping := func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a ping without a bound")
		}
		asked++
		return answer
	}
	alive := func() bool { return Alive(t.Context(), client, ping, time.Hour) }
	if !alive() || runtime.GOOS == "linux" && asked > 0 {
		t.Errorf("a quiet connection: asked %d times", asked)
	}
	server.Write([]byte("x")) // a notice is no death
	for asked == 0 {
		if !alive() {
			t.Fatal("a connection that has a notice is taken for dead")
		}
	}
	answer = errors.New("no answer")
	if alive() {
		t.Error("a connection that does not answer is taken for alive")
	}
	if runtime.GOOS != "linux" {
		return
	}
	var b [1]byte
	client.Read(b[:])
	server.Close()
	for answer = nil; alive(); {
		runtime.Gosched()
	}
}
