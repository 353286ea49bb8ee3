// Command settings is a program for dewpond advise settings to look at. It allocates so many bytes as one of
// three loads does, and counts its own collections and its highest heap:
//
//	go run ./cmd/dewpond/internal/advise/trial/settings -load index -samples /tmp
//	dewpond advise settings /tmp/settings-*.json
//	GOGC=200 go run ./cmd/dewpond/internal/advise/trial/settings -load index
//
// Or it goes on until it is killed, and serves its metrics:
//
//	go run ./cmd/dewpond/internal/advise/trial/settings -load window -listen localhost:6060
//	dewpond advise settings http://localhost:6060
package main

import (
	"encoding/json"
	"expvar"
	"flag"
	"fmt"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sample returns what dewpond advise settings reads: all numbers of runtime/metrics, and the time.
func sample() any {
	all := metrics.All()
	read := make([]metrics.Sample, len(all))
	for i := range all {
		read[i].Name = all[i].Name
	}
	metrics.Read(read)
	values := map[string]any{"time": time.Now()}
	for _, s := range read {
		switch s.Value.Kind() {
		case metrics.KindUint64:
			values[s.Name] = s.Value.Uint64()
		case metrics.KindFloat64:
			values[s.Name] = s.Value.Float64()
		}
	}
	return values
}

// A meter follows what the load allocates. Its allocated is the program's own count, which several
// goroutines add to.
type meter struct {
	allocated atomic.Int64
	peak      atomic.Uint64
	total     int64
	rate      float64    // bytes a second; 0 is as fast as can be
	pace      sync.Mutex // is held by who waits, for all
	samples   string     // a directory; "" for none
	written   atomic.Int64
}

func number(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// looks is how often a run writes a sample.
const looks = 20

// add counts what was allocated, and reports whether the load goes on.
func (m *meter) add(bytes int) bool {
	const step = 256 << 10
	now := m.allocated.Add(int64(bytes))
	if before := now - int64(bytes); now/step != before/step {
		heap := number("/memory/classes/heap/objects:bytes")
		for peak := m.peak.Load(); heap > peak && !m.peak.CompareAndSwap(peak, heap); peak = m.peak.Load() {
		}
		if m.rate > 0 { // who was kept from running does not catch up
			m.pace.Lock()
			time.Sleep(time.Duration(step / m.rate * 1e9))
			m.pace.Unlock()
		}
	}
	if m.samples != "" && now >= m.written.Load()*m.total/looks {
		if n := m.written.Add(1); n <= looks+1 {
			m.write(n)
		}
	}
	return now < m.total
}

func (m *meter) write(n int64) {
	text, err := json.Marshal(sample())
	if err == nil {
		err = os.WriteFile(filepath.Join(m.samples, fmt.Sprintf("settings-%02d.json", n)), text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "settings:", err)
		os.Exit(1)
	}
}

// A result is what a run counts.
type result struct {
	Allocated   int64  `json:"allocated_bytes"`
	Collections uint64 `json:"collections"`
	Peak        uint64 `json:"peak_bytes"`
	Resident    int64  `json:"peak_resident_bytes"` // 0 where Linux does not tell it
}

// resident returns the most memory that the process had so far.
func resident() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

func run(load string, bytes int64, rate float64, seed uint64, samples string) result {
	m := &meter{total: bytes, rate: rate, samples: samples}
	start := loads[load](seed)
	runtime.GC()
	before := number("/gc/cycles/automatic:gc-cycles")
	start(m)
	return result{m.allocated.Load(), number("/gc/cycles/automatic:gc-cycles") - before, m.peak.Load(), resident()}
}

func main() {
	load := flag.String("load", "index", "what lives: index (the same records all the time), window (messages until newer ones replace them) or sessions (more and less, on many stacks)")
	allocate := flag.String("allocate", "600", "how many MB to allocate")
	rate := flag.Float64("rate", 20, "how many MB to allocate a second; 0 is as fast as can be")
	seed := flag.Uint64("seed", 1, "of the sizes")
	samples := flag.String("samples", "", "a `directory` for samples of runtime/metrics, as dewpond advise settings reads them")
	listen := flag.String("listen", "", "an `address` to serve /debug/vars and /debug/pprof at; then the load goes on until the program is killed")
	flag.Parse()
	mb, err := strconv.ParseInt(*allocate, 10, 40)
	if err != nil || mb < 1 || loads[*load] == nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "settings: give -load index, window or sessions, and -allocate with a number of MB")
		os.Exit(2)
	}
	bytes := mb * 1e6
	if *listen != "" {
		expvar.Publish("runtime/metrics", expvar.Func(sample))
		go func() { fmt.Fprintln(os.Stderr, "settings:", http.ListenAndServe(*listen, nil)); os.Exit(1) }()
		bytes = math.MaxInt64
	}
	json.NewEncoder(os.Stdout).Encode(run(*load, bytes, *rate*1e6, *seed, *samples))
}
