package children

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/instruments/kit"
)

// A bursts is what a child of BenchmarkBeyond does: bursts of blocks of 64 KiB, of which it writes the
// beginning, by a pool of a kind.
type bursts struct {
	Kind    string
	Blocks  int
	Written int
}

// A cost is what the bursts of a child cost.
type cost struct {
	CPU       time.Duration
	PeakRSS   uint64
	Allocated uint64
}

type block [64 << 10]byte

// pools are the pools of BenchmarkBeyond. Nothing is cleared that was not written. Each has a control that differs by its
// pool alone.
var pools = map[string]func() (get func() []byte, put func([]byte)){
	"BytePool": func() (func() []byte, func([]byte)) {
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		return func() []byte { return p.Get(len(block{})) }, p.Put
	},
	"Pool": func() (func() []byte, func([]byte)) {
		p := dewpond.MustPool(dewpond.PoolOptions[block]{Reset: func(*block) {}})
		return func() []byte { return p.Get()[:] }, func(b []byte) { p.Put((*block)(b)) }
	},
	"SlicePool": func() (func() []byte, func([]byte)) {
		p := dewpond.MustSlicePool(dewpond.SlicePoolOptions[byte]{Zero: dewpond.ZeroNever})
		return func() []byte { return p.Get(len(block{})) }, p.Put
	},
	"dewsync": func() (func() []byte, func([]byte)) {
		p := dewsync.Pool{New: func() any { return new(block) }}
		return func() []byte { return p.Get().(*block)[:] }, func(b []byte) { p.Put((*block)(b)) }
	},
	"dewsync without New": func() (func() []byte, func([]byte)) {
		var p dewsync.Pool
		return func() []byte {
			if b, ok := p.Get().(*block); ok {
				return b[:]
			}
			return new(block)[:]
		}, func(b []byte) { p.Put((*block)(b)) }
	},
	"BodyPool": func() (func() []byte, func([]byte)) {
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}).Bodies()
		return func() []byte { return p.Get() }, p.Put
	},
	"control": func() (func() []byte, func([]byte)) {
		p := sync.Pool{New: func() any { return new(block) }}
		return func() []byte { return p.Get().(*block)[:] }, func(b []byte) { p.Put((*block)(b)) }
	},
	"control of BodyPool": func() (func() []byte, func([]byte)) {
		var p sync.Pool
		return func() []byte {
			if b, ok := p.Get().(*[]byte); ok {
				return (*b)[:0]
			}
			return nil
		}, func(b []byte) { p.Put(&b) }
	},
}

// do takes six bursts, as a child, and prints what they cost.
func (b bursts) do() {
	get, put := pools[b.Kind]()
	grows := strings.HasSuffix(b.Kind, "BodyPool")
	text := make([]byte, b.Written)
	out := make([][]byte, b.Blocks)
	for range 6 {
		for i := range out {
			if out[i] = get(); grows {
				out[i] = append(out[i], text...)
			} else {
				copy(out[i], text)
			}
		}
		for i, block := range out {
			put(block)
			out[i] = nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	_ = json.NewEncoder(os.Stdout).Encode(cost{kit.CPUTime(), kit.PeakRSS(), memory.TotalAlloc})
	os.Exit(0)
}

// BenchmarkBeyond compares bursts past the idle bound with those of a program that has a sync.Pool in place of
// dewpond's, in processes of their own, interleaved: CPU time, peak RSS and bytes allocated, each as the
// median ratio of the rounds. -benchtime 8x has 8 rounds.
//
//	go test ./instruments/proof/children -run xxx -bench 'Beyond/2GiB' -benchtime 8x
func BenchmarkBeyond(b *testing.B) {
	if text, ok := role(); ok {
		var work bursts
		if err := json.Unmarshal([]byte(text), &work); err != nil {
			b.Fatal(err)
		}
		work.do()
	}
	for _, limit := range []string{"2GiB", "1GiB", "off"} {
		for _, work := range []bursts{{Blocks: 4096, Written: 64 << 10}, {Blocks: 12_000, Written: 1400}, {Blocks: 12_000, Written: 64 << 10}, {Blocks: 20_000, Written: 1400}} {
			for _, kind := range []string{"BytePool", "Pool", "SlicePool", "BodyPool", "dewsync", "dewsync without New"} {
				b.Run(fmt.Sprintf("%s/%d/%d/%s", limit, work.Blocks, work.Written, kind), func(b *testing.B) {
					if b.N == 1 {
						return // a trial of the benchmark's length
					}
					if kind == "BodyPool" && work.Written < len(block{}) {
						b.Skip("a body has the size that was written")
					}
					control := "control"
					if kind == "BodyPool" {
						control = "control of BodyPool"
					}
					var ratios [3][]float64
					for round := range b.N {
						var ours, theirs cost
						if round%2 == 0 {
							ours = work.run(b, kind, limit)
						}
						theirs = work.run(b, control, limit)
						if round%2 == 1 {
							ours = work.run(b, kind, limit)
						}
						for i, r := range []float64{
							float64(ours.CPU) / float64(theirs.CPU), float64(ours.PeakRSS) / float64(theirs.PeakRSS),
							float64(ours.Allocated) / float64(theirs.Allocated),
						} {
							ratios[i] = append(ratios[i], r)
						}
					}
					b.ReportMetric(0, "ns/op")
					for i, unit := range []string{"CPU", "RSS", "allocated"} {
						slices.Sort(ratios[i])
						b.ReportMetric(ratios[i][len(ratios[i])/2], unit)
					}
				})
			}
		}
	}
}

// run has a child do the work with a pool of a kind, and returns what it cost.
func (w bursts) run(b *testing.B, kind, limit string) (c cost) {
	w.Kind = kind
	text, err := json.Marshal(w)
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run=xxx", "-test.bench=^BenchmarkBeyond$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), roleKey+"="+string(text), "GOMEMLIMIT="+limit, "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	line := out.Bytes()
	if i := bytes.IndexByte(line, '{'); i >= 0 {
		line = line[i:]
	}
	if err := json.Unmarshal(line, &c); err != nil {
		b.Fatalf("%v: %s", err, out.Bytes())
	}
	return c
}
