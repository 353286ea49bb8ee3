// Command sites serves requests that allocate, for dewpond advise to look at:
//
//	go run ./cmd/dewpond/internal/advise/trial/sites
//	go run ./cmd/dewpond advise --src cmd/dewpond --seconds 10 http://localhost:6060/debug/pprof
//
// With -pool it runs as advised: what the named sites make is from pools. What is saved shows in the
// collections that it counts:
//
//	go run ./cmd/dewpond/internal/advise/trial/sites -requests 60000
//	go run ./cmd/dewpond/internal/advise/trial/sites -requests 60000 -pool answer,pieces
//
// With -load it makes something else, for which another tool is advised:
//
//	go run ./cmd/dewpond/internal/advise/trial/sites -load messages -live 0 -rate 0 -requests 5000000
//	go run ./cmd/dewpond/internal/advise/trial/sites -load messages -live 0 -rate 0 -requests 5000000 -pool message
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
)

// A service has the sites, each of which can be pooled.
type service struct {
	pooled map[string]bool
	pool   *dewpond.BytePool

	base   [][]byte // what lives as long as the program
	work   int      // hashes of a request
	every  int      // one request in so many is remembered
	cached int      // how many requests the cache has
	mu     sync.Mutex
	cache  map[int][]byte

	window [][]byte // the last messages
	next   int      // of the window, without its end
	orders *dewpond.Pool[order]
	frames *dewpond.BytePool
	part   []byte // of a body
}

// names are those of the sites.
var names = []string{"answer", "pieces", "cache", "message", "order", "body", "frame"}

// The sizes of the service.
const (
	answerBytes = 16 << 10
	pieces      = 48
	pieceBytes  = 128
	cachedBytes = 4 << 10
	baseBytes   = 8 << 20
)

// settings are the flags.
type settings struct {
	load, pooled      string
	window            int // messages
	requests, clients int
	rate              float64
	live, idle        int // MiB
	cached, every     int
	work              int
	seed              uint64
	listen, profiles  string
}

// newService makes a service.
func newService(o settings) (*service, error) {
	s := &service{pooled: map[string]bool{}, cache: map[int][]byte{}, every: o.every, cached: o.cached, work: o.work, part: make([]byte, partBytes)}
	if loads[o.load].request == nil {
		return nil, fmt.Errorf("-load: there is no load %q: give one of %s", o.load, strings.Join(slices.Sorted(maps.Keys(loads)), ", "))
	}
	if o.window < 1 {
		return nil, fmt.Errorf("-window: %d: give 1 or more", o.window)
	}
	if o.load == "messages" {
		s.window = make([][]byte, o.window)
	}
	for name := range strings.SplitSeq(o.pooled, ",") {
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known && name != "" {
			return nil, fmt.Errorf("-pool: there is no site %q: give some of %s", name, strings.Join(names, ","))
		}
		s.pooled[name] = true
	}
	options := dewpond.BytePoolOptions{Name: "sites"}
	if o.idle > 0 {
		options.IdleTimeout = dewpond.NoDecay
	}
	s.pool = dewpond.MustBytePool(options)
	s.orders = dewpond.MustPool(dewpond.PoolOptions[order]{Name: "orders", Reset: (*order).reset})
	s.frames = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames", IdleTimeout: 2 * time.Minute})
	if err := s.pool.Prewarm(answerBytes, o.idle<<20/answerBytes); err != nil {
		return nil, err
	}
	for range o.live << 20 / baseBytes {
		s.base = append(s.base, make([]byte, baseBytes))
	}
	return s, nil
}

// request serves one request, of a client with a sequence of random numbers of its own.
func (s *service) request(random *rand.Rand) byte {
	var sum byte
	answer := s.answer()
	sum += s.piece(answer)
	for range s.work {
		hash := sha256.Sum256(answer)
		answer[0] ^= hash[0]
	}
	if random.IntN(s.every) == 0 {
		s.remember(random.IntN(s.cached), answer[0])
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
func (s *service) remember(key int, first byte) {
	var entry []byte
	if s.pooled["cache"] {
		entry = s.pool.Get(cachedBytes)
	} else {
		entry = make([]byte, cachedBytes)
	}
	entry[0] = first
	s.mu.Lock()
	old := s.cache[key]
	s.cache[key] = entry
	s.mu.Unlock()
	if s.pooled["cache"] && old != nil {
		s.pool.Put(old)
	}
}

// serve runs that many requests, at a rate for all clients if that is not 0.
func (s *service) serve(o settings) {
	var all sync.WaitGroup
	for client := range o.clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(o.seed, uint64(client)))
			begin := time.Now()
			for i := range o.requests / o.clients {
				if o.rate > 0 && i%16 == 0 {
					due := begin.Add(time.Duration(float64(i*o.clients) / o.rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				loads[o.load].request(s, random)
			}
		})
	}
	all.Wait()
}

// A count is what the program has counted of itself while it served.
type count struct {
	Collections uint64             `json:"collections"`
	Since       uint64             `json:"collections_since_start"`
	Bytes       uint64             `json:"allocated_bytes"`
	Seconds     float64            `json:"seconds"`
	Sites       map[string]float64 `json:"site_bytes_per_second"` // true ones, of those that are not pooled
	IdleBytes   int64              `json:"idle_bytes"`
}

func main() {
	var o settings
	flag.StringVar(&o.load, "load", "answers", "what a request makes: answers (with pieces and a cache), messages (of which a window is kept), orders, bodies, or bursts of frames")
	flag.StringVar(&o.pooled, "pool", "", "the sites that are pooled, such as answer,pieces")
	flag.IntVar(&o.window, "window", 200_000, "how many messages are kept")
	flag.IntVar(&o.requests, "requests", 0, "how many requests are served; 0: until it is ended")
	flag.IntVar(&o.clients, "clients", 4, "how many goroutines serve them")
	flag.Float64Var(&o.rate, "rate", 6000, "how many requests are served in a second; 0: as many as can be")
	flag.IntVar(&o.live, "live", 48, "how many MiB live as long as the program")
	flag.IntVar(&o.idle, "idle", 0, "how many MiB the pool keeps idle, as after a burst")
	flag.IntVar(&o.cached, "cached", 1250, "how many requests are remembered at a time")
	flag.IntVar(&o.every, "every", 8, "one request in so many is remembered")
	flag.IntVar(&o.work, "work", 0, "how often each request hashes its answer, which allocates nothing")
	flag.Uint64Var(&o.seed, "seed", 1, "of the clients' random numbers")
	flag.StringVar(&o.listen, "listen", "localhost:6060", "where net/http/pprof is served, if it serves until it is ended")
	flag.StringVar(&o.profiles, "profiles", "", "a directory that gets what /debug/pprof would answer, six times while it serves")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "sites:", err)
		os.Exit(1)
	}
}

// looks is how often profiles are saved, both ends included.
const looks = 6

func run(o settings) error {
	s, err := newService(o)
	if err != nil {
		return err
	}
	warm := o
	warm.requests, warm.rate, warm.seed = loads[o.load].warm(o), 0, o.seed+1
	s.serve(warm) // the cache is full, and the pool as it will be
	if o.requests == 0 {
		go func() {
			for o.requests = 1 << 20; ; o.seed++ {
				s.serve(o)
			}
		}()
		fmt.Fprintf(os.Stderr, "serving: http://%s/debug/pprof\n", o.listen)
		return http.ListenAndServe(o.listen, nil)
	}
	runtime.GC()
	stop, err := profile(o.profiles)
	if err != nil {
		return err
	}
	before, begin := read(), time.Now()
	part, of, busy := o, loads[o.load], looks-1
	if of.bursts {
		busy = looks / 2
	}
	part.requests = o.requests / busy
	for look := range looks {
		if look > 0 && (!of.bursts || look%2 > 0) {
			part.seed++
			s.serve(part)
		}
		if err := save(o.profiles, look); err != nil {
			return err
		}
	}
	after, seconds := read(), time.Since(begin).Seconds()
	if err := stop(); err != nil {
		return err
	}
	requests := float64(part.requests / o.clients * o.clients * busy)
	c := count{Collections: after[0] - before[0], Since: after[0], Bytes: after[1] - before[1], Seconds: seconds, IdleBytes: s.stats().IdleBytes, Sites: map[string]float64{}}
	for name, bytes := range of.bytes {
		c.Sites[name] = requests * bytes / seconds
	}
	if o.load == "answers" && o.every == 1 {
		c.Sites["cache"] = requests * cachedBytes / seconds
	}
	runtime.KeepAlive(s)
	return json.NewEncoder(os.Stdout).Encode(c)
}

// read returns the collections that nobody asked for, and the bytes allocated.
func read() [2]uint64 {
	samples := []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return [2]uint64{samples[0].Value.Uint64(), samples[1].Value.Uint64()}
}

// profile begins a CPU profile, unless dir is empty. stop ends it.
func profile(dir string) (stop func() error, err error) {
	if dir == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(filepath.Join(dir, "cpu.pb.gz"))
	if err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, pprof.StartCPUProfile(f)
}

// save writes what the program's /debug/pprof would answer.
func save(dir string, look int) error {
	if dir == "" {
		return nil
	}
	for file, debug := range map[string]int{"heap%d.txt": 1, "allocs%d.pb.gz": 0} {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf(file, look)))
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
