package synthetic

import (
	"math"
	"math/rand/v2"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A Pool describes an invented contender: the values that its times are spread around.
type Pool struct {
	Name     string
	Get, Put float64 // median ns
	Tail     float64 // the weight of the tail: sigma of the lognormal distribution
	Rate     float64
	Allocs   float64 // per operation
	Bytes    float64
	GC       uint64
	RSS      uint64
}

// Pools are like those that bench compares.
var Pools = []Pool{
	{"nop", 30, 32, 0.20, 9.6e6, 0, 0, 0, 22e6},
	{"make", 160, 34, 0.60, 3.1e6, 1, 2548, 230, 91e6},
	{"syncpool-mixed", 36, 48, 0.45, 8.3e6, 1, 24, 19, 59e6},
	{"syncpool-class", 34, 38, 0.25, 9.2e6, 0, 0, 0, 20e6},
	{"treiber", 60, 90, 0.50, 5.4e6, 2, 48, 26, 62e6},
	{"dewpond", 31.5, 34, 0.22, 9.4e6, 0, 0, 0, 24e6},
}

// Rounds returns n rounds of each pool, seeded, so the same every time. In each round the machine
// has a different speed, which pairing must remove.
func Rounds(seed uint64, n, samples int, pools ...Pool) []result.Round {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out []result.Round
	for i := range n {
		speed := 1 + 0.3*rng.Float64()
		for _, p := range pools {
			ops := p.Rate / speed * (1 + 0.01*rng.NormFloat64())
			out = append(out, result.Round{
				Contender: p.Name, Round: i, Ops: uint64(ops), Seconds: 1,
				RecorderBytes: 62_000, GCCycles: p.GC, Allocs: uint64(p.Allocs * ops), AllocBytes: uint64(p.Bytes * ops),
				GCCPUShare: float64(p.GC) / 1000, RSSPeakBytes: p.RSS + uint64(i)*100_000,
				Histograms: map[string][]byte{
					"get": Lognormal(rng, p.Get*speed, p.Tail, samples),
					"put": Lognormal(rng, p.Put*speed, p.Tail, samples),
				},
			})
			if p.Name == bench.Ours {
				out[len(out)-1].Engine = "pinned"
			}
		}
	}
	return out
}

// Lognormal returns the histogram of times around a median, in HdrHistogram's V2 encoding.
func Lognormal(rng *rand.Rand, median, sigma float64, samples int) []byte {
	h := hdrhistogram.New(1, 60_000_000_000, 3)
	for range samples {
		if err := h.RecordValue(int64(median * math.Exp(sigma*rng.NormFloat64()))); err != nil {
			panic(err)
		}
	}
	blob, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	return blob
}

var (
	Environment = bench.Conditions{Environment: result.Environment{
		Machine: "Synthetic CPU", OS: "linux", Arch: "amd64", CPUs: 2, GoVersion: "go1.26.8", GOMAXPROCS: 2,
		GOGC: "100", GOMEMLIMIT: "none", LoadAverage: [3]float64{0.5, 0.4, 0.3}, Time: "2026-11-21T08:00:00Z",
	}}
	Mixed = bench.Scenario{
		Name: "mixed", Mode: "closed", Goroutines: 512, Mix: "128:70,8192:30", Hold: "none", Garbage: "0",
		Rounds: 6, Duration: "1s", Sample: 8, Zero: "ZeroOnPut",
	}
)
