// Command zstd decodes messages on several goroutines with a few pooled decoders, and
// prints how many decoders it made and closed:
//
//	go run ./examples/zstd
//
// A zstd.Decoder holds much memory and must be closed, once, and not while it is in
// use. That is what Drop is for: the pool calls it once for each decoder that it
// releases, for lack of room, in Trim or in Close.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"github.com/klauspost/compress/zstd"
)

// decoders returns the options of a pool of decoders. Get one, Reset it to a source,
// read from it, and Put it back, even in the middle of a stream.
func decoders() dewpond.PoolOptions[zstd.Decoder] {
	return dewpond.PoolOptions[zstd.Decoder]{
		Name: "zstd",
		New: func() *zstd.Decoder {
			// The decoder has no goroutines of its own: they may write to it for a
			// moment after Reset, when it is idle, which checked mode reports.
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
			if err != nil {
				panic(err) // only invalid options fail, and these are valid
			}
			return d
		},
		Reset:   func(d *zstd.Decoder) { d.Reset(nil) }, // ends the stream and releases its source
		Drop:    (*zstd.Decoder).Close,
		MaxIdle: 16,
	}
}

// decode writes the decoded source to w.
func decode(pool *dewpond.Pool[zstd.Decoder], w io.Writer, source io.Reader) error {
	d := pool.Get()
	defer pool.Put(d)
	if err := d.Reset(source); err != nil {
		return err
	}
	_, err := io.Copy(w, d)
	return err
}

func main() {
	messages := flag.Int("messages", 10_000, "how many messages to decode")
	workers := flag.Int("workers", 4, "on how many goroutines")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: go run ./examples/zstd [flags]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(*messages, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "zstd:", err)
		os.Exit(1)
	}
}

func run(messages, workers int) error {
	if messages < 0 || workers < 1 {
		return fmt.Errorf("%d messages on %d goroutines: messages must be 0 or more, goroutines at least 1", messages, workers)
	}
	options := decoders()
	var closed atomic.Int64
	options.Drop = func(d *zstd.Decoder) {
		d.Close()
		closed.Add(1)
	}
	pool := dewpond.MustPool(options)
	message := compressed(strings.Repeat("a message like many others\n", 100))

	errs := make([]error, workers)
	var next, written atomic.Int64
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for next.Add(1) <= int64(messages) && errs[i] == nil {
				errs[i] = decode(pool, counter{&written}, strings.NewReader(message))
			}
		})
	}
	wg.Wait()
	pool.Close()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d messages, %d bytes, by %d decoders; %d closed\n", messages, written.Load(), pool.Stats().Misses, closed.Load())
	return nil
}

func compressed(text string) string {
	var b strings.Builder
	w, err := zstd.NewWriter(&b)
	if err != nil {
		panic(err) // only invalid options fail, and these are valid
	}
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// A counter counts the bytes that are written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
