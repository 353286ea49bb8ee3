// Command sites serves requests that allocate, for dewpond advise to look at:
//
//	go run ./examples/advise/sites
//	go run ./cmd/dewpond advise --src examples --seconds 10 http://localhost:6060/debug/pprof
//
// With -pool it runs as advised: what the named sites make is from pools. What is saved shows in the
// collections that it counts:
//
//	go run ./examples/advise/sites -requests 60000
//	go run ./examples/advise/sites -requests 60000 -pool answer,pieces
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
)

// A service has the sites, each of which can be pooled.
type service struct {
	pooled map[string]bool
	pool   *dewpond.BytePool

	base  [][]byte // what lives as long as the program
	mu    sync.Mutex
	cache map[uint32][]byte
}

// names are those of the sites.
var names = []string{"answer", "pieces", "cache"}

// The sizes of the service.
const (
	answerBytes = 16 << 10
	pieces      = 48
	pieceBytes  = 128
	cached      = 5000
	cachedBytes = 4 << 10
)

func newService(pooled string, live int) (*service, error) {
	s := &service{pooled: map[string]bool{}, cache: map[uint32][]byte{}}
	for name := range strings.SplitSeq(pooled, ",") {
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known && name != "" {
			return nil, fmt.Errorf("-pool: there is no site %q: give some of %s", name, strings.Join(names, ","))
		}
		s.pooled[name] = true
	}
	s.pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "sites"})
	for range live >> 20 {
		block := make([]byte, 1<<20)
		block[0] = 1
		s.base = append(s.base, block)
	}
	return s, nil
}

// request serves one request, of a client with a sequence of random numbers of its own.
func (s *service) request(random *rand.Rand) byte {
	var sum byte
	answer := s.answer()
	sum += s.piece(answer)
	if random.IntN(8) == 0 {
		s.remember(random.Uint32N(1<<20), answer[0])
	}
	s.doneWith(answer)
	return sum
}

// answer makes the answer of a request.
func (s *service) answer() []byte {
	if s.pooled["answer"] {
		return s.pool.Get(answerBytes)
	}
	return make([]byte, answerBytes)
}

func (s *service) doneWith(answer []byte) {
	if s.pooled["answer"] {
		s.pool.Put(answer)
	}
}

// piece fills an answer by many small pieces, which die together.
func (s *service) piece(answer []byte) (sum byte) {
	var parts [pieces][]byte
	var scope *dewpond.Scope
	if s.pooled["pieces"] {
		scope = s.pool.Scope()
		defer scope.Close()
	}
	for i := range pieces {
		if scope != nil {
			parts[i] = scope.Get(pieceBytes)
		} else {
			parts[i] = make([]byte, length(i))
		}
		parts[i][0] = byte(i)
	}
	for i, p := range parts {
		answer[i] = p[0]
		sum += p[0]
	}
	return sum
}

// length is a size that the compiler does not know, so that a piece is on the heap.
//
//go:noinline
func length(int) int { return pieceBytes }

// remember replaces an entry of a cache that has a steady number of them.
func (s *service) remember(key uint32, first byte) {
	var entry []byte
	if s.pooled["cache"] {
		entry = s.pool.Get(cachedBytes)
	} else {
		entry = make([]byte, cachedBytes)
	}
	entry[0] = first
	key %= cached
	s.mu.Lock()
	old := s.cache[key]
	s.cache[key] = entry
	s.mu.Unlock()
	if s.pooled["cache"] && old != nil {
		s.pool.Put(old)
	}
}

// serve runs that many requests in so many clients, at a rate for all of them if that is not 0.
func (s *service) serve(requests, clients int, rate float64, seed uint64) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			begin := time.Now()
			for i := 0; i < requests/clients; i++ {
				if rate > 0 && i%16 == 0 {
					due := begin.Add(time.Duration(float64(i*clients) / rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				s.request(random)
			}
		})
	}
	all.Wait()
}

// A count is what the program has counted of itself while it served.
type count struct {
	Collections uint64             `json:"collections"`
	Bytes       uint64             `json:"allocated_bytes"`
	Seconds     float64            `json:"seconds"`
	Sites       map[string]float64 `json:"site_bytes_per_second"` // true ones, of those that are not pooled
	IdleBytes   int64              `json:"idle_bytes"`
}

func main() {
	pooled := flag.String("pool", "", "the sites that are pooled, such as answer,pieces")
	requests := flag.Int("requests", 0, "how many requests are served; 0: until it is ended")
	clients := flag.Int("clients", 4, "how many goroutines serve them")
	rate := flag.Float64("rate", 6000, "how many requests are served in a second; 0: as many as can be")
	live := flag.Int("live", 32, "how many MiB live as long as the program")
	seed := flag.Uint64("seed", 1, "of the clients' random numbers")
	listen := flag.String("listen", "localhost:6060", "where net/http/pprof is served, if it serves until it is ended")
	profiles := flag.String("profiles", "", "a directory that gets the profiles of both ends of the requests")
	flag.Parse()
	if err := run(*pooled, *requests, *clients, *rate, *live, *seed, *listen, *profiles); err != nil {
		fmt.Fprintln(os.Stderr, "sites:", err)
		os.Exit(1)
	}
}

func run(pooled string, requests, clients int, rate float64, live int, seed uint64, listen, profiles string) error {
	s, err := newService(pooled, live)
	if err != nil {
		return err
	}
	s.serve(2*8*cached, clients, 0, seed+1) // the cache is full, and pools are warm
	if requests == 0 {
		go func() {
			for {
				s.serve(1<<20, clients, rate, seed)
			}
		}()
		fmt.Fprintf(os.Stderr, "serving: http://%s/debug/pprof\n", listen)
		return http.ListenAndServe(listen, nil)
	}
	runtime.GC()
	if err := save(profiles, "1"); err != nil {
		return err
	}
	before, begin := read(), time.Now()
	s.serve(requests, clients, rate, seed)
	after, seconds := read(), time.Since(begin).Seconds()
	if err := save(profiles, "2"); err != nil {
		return err
	}
	served := float64(requests/clients*clients) / seconds
	c := count{Collections: after[0] - before[0], Bytes: after[1] - before[1], Seconds: seconds, IdleBytes: s.pool.Stats().IdleBytes, Sites: map[string]float64{
		"answer": served * answerBytes, "pieces": served * pieces * pieceBytes,
	}}
	runtime.KeepAlive(s)
	return json.NewEncoder(os.Stdout).Encode(c)
}

// read returns the collections that nobody asked for, and the bytes allocated.
func read() [2]uint64 {
	samples := []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return [2]uint64{samples[0].Value.Uint64(), samples[1].Value.Uint64()}
}

// save writes what the program's /debug/pprof would answer.
func save(dir, name string) error {
	if dir == "" {
		return nil
	}
	for file, debug := range map[string]int{"heap" + name + ".txt": 1, "allocs" + name + ".pb.gz": 0} {
		f, err := os.Create(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		if err := pprof.Lookup("allocs").WriteTo(f, debug); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

