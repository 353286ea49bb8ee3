// Command waitpool reads a burst of packets into pooled buffers while a slow worker handles
// them, once from a sync.Pool and once from a pool with a limit, and prints the peak resident
// memory of both:
//
//	go run ./examples/waitpool
//
// The pool with a limit is the WaitPool of wireguard-go, which its builds for phones use: who
// wants a buffer waits until one is free. So the reader is slowed down to the worker, and
// memory is what the limit says, however long the burst.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/dewpond/dewpond"
)

// A packet is a buffer for the largest UDP packet.
type packet struct {
	n    int
	data [65535]byte
}

// A source hands out packets and takes them back.
type source interface {
	get(ctx context.Context) (*packet, error)
	put(p *packet)
}

// bounded has at most so many packets out, and makes callers wait for one.
type bounded struct{ pool *dewpond.Pool[packet] }

func newBounded(limit int) bounded {
	return bounded{dewpond.MustPool(dewpond.PoolOptions[packet]{
		Name:    "packets",
		MaxOut:  limit,
		MaxIdle: limit,
		Reset:   func(p *packet) { p.n = 0 }, // the data is overwritten
	})}
}

func (b bounded) get(ctx context.Context) (*packet, error) { return b.pool.GetContext(ctx) }
func (b bounded) put(p *packet)                            { b.pool.Put(p) }

// unbounded makes as many packets as are asked for.
type unbounded struct{ pool sync.Pool }

func newUnbounded() *unbounded {
	return &unbounded{sync.Pool{New: func() any { return new(packet) }}}
}

func (u *unbounded) get(context.Context) (*packet, error) { return u.pool.Get().(*packet), nil }
func (u *unbounded) put(p *packet)                        { u.pool.Put(p) }

// burst reads packets as fast as it can, and returns how many the worker has handled.
func burst(ctx context.Context, from source, packets int) (handled int, err error) {
	queue := make(chan *packet, packets) // as long as the burst: only the source can slow it down
	done := make(chan bool)
	go func() {
		defer close(done)
		for p := range queue {
			for range 4 {
				sha256.Sum256(p.data[:p.n]) // slower than reading
			}
			from.put(p)
			handled++
		}
	}()
	for i := range packets {
		var p *packet
		if p, err = from.get(ctx); err != nil {
			break
		}
		p.n = len(p.data)
		for at := 0; at < p.n; at += 4096 { // as if it had been read from a socket
			p.data[at] = byte(i)
		}
		queue <- p
	}
	close(queue)
	<-done
	return handled, err
}

func main() {
	packets := flag.Int("packets", 4000, "how many packets the burst has")
	limit := flag.Int("limit", 64, "how many packets may be out")
	kind := flag.String("kind", "", "run only this one: bounded or unbounded")
	flag.Parse()
	if *kind == "" {
		for _, kind := range []string{"unbounded", "bounded"} { // each in a process of its own
			if err := again("-kind", kind, "-packets", fmt.Sprint(*packets), "-limit", fmt.Sprint(*limit)); err != nil {
				fmt.Fprintln(os.Stderr, "waitpool:", err)
				os.Exit(1)
			}
		}
		return
	}
	var from source = newUnbounded()
	if *kind == "bounded" {
		from = newBounded(*limit)
	}
	handled, err := burst(context.Background(), from, *packets)
	if err != nil {
		fmt.Fprintln(os.Stderr, "waitpool:", err)
		os.Exit(1)
	}
	fmt.Printf("%-9s  %d packets, peak resident memory %s\n", *kind, handled, peak())
}

func again(args ...string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(path, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// peak returns the process's peak resident memory, as Linux tells it.
func peak() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown: there is no /proc/self/status"
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(value)
		}
	}
	return "unknown: /proc/self/status has no VmHWM"
}
