package load

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp/fasthttputil"
)

var dewpondLoads = map[string]dewpondLoad{
	"server, 10 requests per connection":        dewpondBenchmark(BenchmarkServerGet10ReqPerConn),
	"2000 HostClients of 4 requests":            dewpondHostClients,
	"500 requests at once, then 200 MB garbage": dewpondWaves,
}

// dewpondServer answers every request after a while.
func dewpondServer(t *testing.T, after time.Duration) (dial func(string) (net.Conn, error)) {
	listener := fasthttputil.NewInmemoryListener()
	server := &Server{Handler: func(ctx *RequestCtx) {
		time.Sleep(after)
		ctx.WriteString("an answer")
	}}
	go server.Serve(listener)
	t.Cleanup(func() { listener.Close() })
	return func(string) (net.Conn, error) { return listener.Dial() }
}

func dewpondGet(t *testing.T, do func(*Request, *Response) error) {
	request, response := AcquireRequest(), AcquireResponse()
	defer ReleaseRequest(request)
	defer ReleaseResponse(response)
	request.SetRequestURI("http://host.example/")
	err := do(request, response)
	if err == nil && string(response.Body()) != "an answer" {
		err = errors.New("another answer")
	}
	if err != nil {
		t.Error(err)
	}
}

// Each client has pools of its own, as one for each host has. All of them live until the end.
func dewpondHostClients(t *testing.T, clients int) []time.Duration {
	dial := dewpondServer(t, 0)
	all := make([]HostClient, clients)
	var running sync.WaitGroup
	for begin := range 8 {
		running.Go(func() {
			for i := begin; i < clients; i += 8 {
				all[i].Addr, all[i].Dial = "host.example:80", dial
				for range 4 {
					dewpondGet(t, all[i].Do)
				}
				all[i].CloseIdleConnections()
			}
		})
	}
	running.Wait()
	return nil
}

var dewpondGarbage []byte

// The garbage after a wave is of others, for two GC cycles or more.
func dewpondWaves(t *testing.T, waves int) []time.Duration {
	client := &HostClient{Addr: "host.example:80", Dial: dewpondServer(t, 3*time.Millisecond), MaxConns: 500}
	for range waves {
		var running sync.WaitGroup
		for range 500 {
			running.Go(func() { dewpondGet(t, client.Do) })
		}
		running.Wait()
		for range 200 {
			dewpondGarbage = make([]byte, 1_000_000)
		}
	}
	return nil
}
