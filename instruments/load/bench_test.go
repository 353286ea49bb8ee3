package load_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/leaks"
	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/load"
)

// asTarget in the environment makes the test binary a target: so the processor time of a benchmark
// is the generator's alone.
const asTarget = "DEWLOAD_TARGET"

func TestMain(m *testing.M) {
	if os.Getenv(asTarget) == "" {
		os.Exit(leaks.Run(m.Run))
	}
	t := matchmaker.Start(false)
	fmt.Println(t.URL)
	io.Copy(io.Discard, os.Stdin) // until the parent ends
	t.Close()
}

// child starts a target in a process of its own and returns its URL.
func child(b *testing.B) string {
	b.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asTarget+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// BenchmarkRequest prints what one request costs the generator, cpu-ns/op above all, beside what it
// costs an http.Client with a deadline. Compare them within one run: -benchtime 50000x -count 5.
func BenchmarkRequest(b *testing.B) {
	url := child(b)
	cpu := func(b *testing.B, once func(int)) {
		once(0)
		b.ReportAllocs()
		b.ResetTimer()
		before := kit.CPUTime()
		n := 0
		for ; b.Loop(); n++ {
			once(n)
		}
		b.ReportMetric(float64(kit.CPUTime()-before)/float64(n), "cpu-ns/op")
	}
	for _, protocol := range []load.Protocol{load.HTTP1, load.H2C} {
		name := strings.ReplaceAll(string(protocol), "/", "")
		b.Run(name+"/client", func(b *testing.B) {
			var protocols http.Protocols
			protocols.SetHTTP1(protocol == load.HTTP1)
			protocols.SetUnencryptedHTTP2(protocol == load.H2C)
			c := &http.Client{Transport: &http.Transport{Protocols: &protocols, DisableCompression: true, MaxIdleConnsPerHost: 64}}
			defer c.CloseIdleConnections()
			cpu(b, func(int) {
				ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
				defer cancel()
				q, err := http.NewRequestWithContext(ctx, "GET", url+"/img/u/a", nil)
				if err != nil {
					b.Fatal(err)
				}
				answer, err := c.Do(q)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			})
		})
		b.Run(name+"/load", func(b *testing.B) { cpu(b, prepared(b, one(url, load.Request{URL: "/img/u/a"}), protocol)) })
	}
	b.Run("websocket/load", func(b *testing.B) {
		cpu(b, prepared(b, one(url, load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 1}), load.HTTP1))
	})
	b.Run("grpc/load", func(b *testing.B) {
		cpu(b, prepared(b, one(url, load.Procedure{Method: "matchmaker.v1.Matchmaker/Match"}), load.HTTP1))
	})
}

func prepared(b *testing.B, s load.Scenario, protocol load.Protocol) func(int) {
	b.Helper()
	s.Protocols = []load.Share{{Protocol: protocol, Weight: 1}}
	s.Connections = 1 // as the client has, for it makes one request at a time
	r, err := load.Prepare(b.Context(), s, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.End)
	return r.Once
}
