package children

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// The load of BenchmarkServiceMemory.
const (
	serviceRate     = 200 // requests per second, at random times
	serviceRequests = 1000
	serviceAtOnce   = 8                    // more requests wait
	serviceWaits    = 2 * time.Millisecond // for a database, twice in a request
)

// BenchmarkServiceMemory compares the peak RSS, CPU time and GC cycles of a service whose pools are dewpond's with
// those of one whose pools are sync.Pools. The service compresses JSON while it waits for a database, so its objects
// are a few bytes.Buffers and a few gzip.Writers of 0.8 MB each. A round starts one process of each, and sends
// both the same requests. -benchtime 6x has 6 rounds, the fewest for a 95 % interval.
func BenchmarkServiceMemory(b *testing.B) {
	if kit.PeakRSS() == 0 {
		b.Skip("the peak RSS is read on Linux alone")
	}
	for _, c := range []struct {
		name, role  string
		environment []string
	}{
		{"same", "sync.Pool", nil}, // the control of the measurement
		{"dewsync", "dewsync", nil},
		{"dewsync-GOGC=50", "dewsync", []string{"GOGC=50"}},
		{"dewsync-GOMEMLIMIT=32MiB", "dewsync", []string{"GOMEMLIMIT=32MiB"}},
		{"MaxIdle", "MaxIdle", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			ratios, control := map[string][]float64{}, map[string][]float64{}
			for i := 0; b.Loop(); i++ {
				var ours, theirs served
				if i%2 == 0 {
					ours, theirs = serve(b, i, c.role, c.environment...), serve(b, i, "sync.Pool")
				} else {
					theirs, ours = serve(b, i, "sync.Pool"), serve(b, i, c.role, c.environment...)
				}
				for name, ours := range ours {
					control[name] = append(control[name], theirs[name])
					ratios[name] = append(ratios[name], ours/theirs[name])
				}
			}
			b.ReportMetric(0, "ns/op")
			for name, all := range ratios {
				ratio := summary.Interval(all)
				b.ReportMetric(summary.Interval(control[name]).Median, "control-"+name)
				b.ReportMetric(ratio.Median, name+"-ratio")
				b.ReportMetric(ratio.Low, name+"-ratio-low")
				b.ReportMetric(ratio.High, name+"-ratio-high")
			}
		})
	}
}

// served are the figures of a service at its end, by their names.
type served map[string]float64

// serve asks a service in a process of its own, and returns what it says at its end.
func serve(b *testing.B, seed int, role string, environment ...string) served {
	service := exec.Command(os.Args[0], "-test.run=^TestServiceOfBenchmark$")
	service.Env = append(append(os.Environ(), "DEWPOND_BUBBLES=off", roleKey+"="+role), environment...)
	service.Stderr = os.Stderr
	end, err := service.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := service.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := service.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	var requests sync.WaitGroup
	due := time.Now()
	for range serviceRequests {
		due = due.Add(time.Duration(random.ExpFloat64() * float64(time.Second) / serviceRate))
		time.Sleep(time.Until(due))
		requests.Go(func() {
			answer, err := client.Get("http://" + strings.TrimSpace(address))
			if err != nil {
				b.Error(err)
				return
			}
			defer answer.Body.Close()
			if n, err := io.Copy(io.Discard, answer.Body); err != nil || n == 0 {
				b.Error(n, err)
			}
		})
	}
	requests.Wait()
	client.CloseIdleConnections()
	end.Close()
	var figures served
	if err := json.NewDecoder(lines).Decode(&figures); err != nil {
		b.Fatal(err)
	}
	if err := service.Wait(); err != nil {
		b.Fatal(err)
	}
	return figures
}

// An objects is a sync.Pool, or what takes its place.
type objects interface {
	Get() any
	Put(any)
}

// A zipper is a gzip.Writer that writes to whatever to has.
type zipper struct {
	*gzip.Writer
	to struct{ io.Writer }
}

// bounded is a Pool of zippers that keeps as many idle as can be in use at once.
type bounded struct{ *dewpond.Pool[zipper] }

func (p bounded) Get() any  { return p.Pool.Get() }
func (p bounded) Put(z any) { p.Pool.Put(z.(*zipper)) }

// TestServiceOfBenchmark is the service of BenchmarkServiceMemory, until its standard input ends.
func TestServiceOfBenchmark(t *testing.T) {
	how, ok := role()
	if !ok {
		t.Skip("it is for the benchmark")
	}
	newBuffer, newZipper := func() any { return new(bytes.Buffer) }, func() any { return &zipper{Writer: gzip.NewWriter(nil)} }
	s := service{buffers: &dewsync.Pool{New: newBuffer}, zippers: &dewsync.Pool{New: newZipper}}
	switch how {
	case "sync.Pool":
		s = service{buffers: &sync.Pool{New: newBuffer}, zippers: &sync.Pool{New: newZipper}}
	case "MaxIdle":
		s.zippers = bounded{dewpond.MustPool(dewpond.PoolOptions[zipper]{
			Name: "gzip", New: func() *zipper { return newZipper().(*zipper) }, Reset: func(z *zipper) { z.to.Writer = nil }, MaxIdle: serviceAtOnce,
		})}
	}
	s.atOnce = make(chan bool, serviceAtOnce)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(listener.Addr())
	go http.Serve(listener, s)
	io.Copy(io.Discard, os.Stdin)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	figures := served{"peak-MB": float64(kit.PeakRSS()) / 1e6, "CPU-ms": float64(kit.CPUTime().Milliseconds()), "collections": float64(m.NumGC)}
	if err := json.NewEncoder(os.Stdout).Encode(figures); err != nil {
		t.Fatal(err)
	}
	os.Exit(0)
}

type row struct {
	ID    int
	Name  string
	Score float64
	text  []byte
}

type service struct {
	buffers, zippers objects
	atOnce           chan bool
}

func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.atOnce <- true
	defer func() { <-s.atOnce }()
	b, z := s.buffers.Get().(*bytes.Buffer), s.zippers.Get().(*zipper)
	z.to.Writer = w
	z.Reset(&z.to)
	w.Header().Set("Content-Encoding", "gzip")
	for range 2 {
		time.Sleep(serviceWaits)
		var rows []row // garbage, as a database's driver makes it
		for range 100 {
			rows = append(rows, row{rand.Int(), fmt.Sprintf("%x", rand.Uint64()), rand.Float64(), make([]byte, 128)})
		}
		b.Reset()
		json.NewEncoder(b).Encode(rows)
		z.Write(b.Bytes())
	}
	z.Close()
	z.to.Writer = nil
	s.zippers.Put(z)
	s.buffers.Put(b)
}
