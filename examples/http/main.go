// Command http serves a handler whose whole request lives in one scope, beside a plain
// one that does the same with make:
//
//	go run ./examples/http
//	printf 'apple 3 120\npear 10 80\n' | curl --data-binary @- http://localhost:8080/scoped
//
// go test -bench . ./examples/http compares what they allocate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dewpond/dewpond"
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `Usage: go run ./examples/http [-addr host:port]

Serves POST /scoped and POST /plain. Both take lines "symbol quantity price", and
answer with lines "symbol value", the greatest value first. Ctrl-C ends, and so does SIGTERM.

`)
		flag.PrintDefaults()
	}
	addr := flag.String("addr", "localhost:8080", "where to listen; port 0 takes a free one")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		fmt.Printf("listening on http://%s\n", listener.Addr())
		err = serve(ctx, listener)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

// serve answers until ctx is done, then lets the requests in progress end, and prints
// what the pool did.
func serve(ctx context.Context, listener net.Listener) error {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	defer pool.Close()
	mux := http.NewServeMux()
	mux.Handle("POST /scoped", scoped{pool})
	mux.HandleFunc("POST /plain", plain)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}

	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := server.Shutdown(grace)
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s := pool.Stats()
	fmt.Printf("%d blocks handed out, %d of them allocated; %d bytes in use\n", s.Gets, s.Misses, s.InUseBytes)
	return err
}
