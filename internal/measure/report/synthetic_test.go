package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A pool describes a made-up contender: what its times are spread around.
type pool struct {
	name     string
	get, put float64 // median ns
	tail     float64 // how heavy: sigma of the lognormal
	rate     float64
	allocs   float64 // per operation
	bytes    float64
	gc       uint64
	rss      uint64
}

var pools = []pool{
	{"nop", 30, 32, 0.20, 9.6e6, 0, 0, 0, 22e6},
	{"make", 160, 34, 0.60, 3.1e6, 1, 2548, 230, 91e6},
	{"syncpool-mixed", 36, 48, 0.45, 8.3e6, 1, 24, 19, 59e6},
	{"syncpool-class", 34, 38, 0.25, 9.2e6, 0, 0, 0, 20e6},
	{"treiber", 60, 90, 0.50, 5.4e6, 2, 48, 26, 62e6},
	{"dewpond", 31.5, 34, 0.22, 9.4e6, 0, 0, 0, 24e6},
}

// rounds makes n rounds of each pool, seeded: the same every time. In each round
// the machine has its own speed, which pairing must take out.
func rounds(t testing.TB, seed uint64, n, samples int, pools ...pool) []result.Round {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var out []result.Round
	for i := range n {
		weather := 1 + 0.3*rng.Float64()
		for _, p := range pools {
			ops := p.rate / weather * (1 + 0.01*rng.NormFloat64())
			out = append(out, result.Round{
				Contender: p.name, Round: i, Ops: uint64(ops), Seconds: 1,
				RecorderBytes: 62_000, GCCycles: p.gc, Allocs: uint64(p.allocs * ops), AllocBytes: uint64(p.bytes * ops),
				GCCPUShare: float64(p.gc) / 1000, RSSPeakBytes: p.rss + uint64(i)*100_000,
				Histograms: map[string][]byte{
					"get": lognormal(t, rng, p.get*weather, p.tail, samples),
					"put": lognormal(t, rng, p.put*weather, p.tail, samples),
				},
			})
			if p.name == ours {
				out[len(out)-1].Engine = "pinned"
			}
		}
	}
	return out
}

func lognormal(t testing.TB, rng *rand.Rand, median, sigma float64, samples int) []byte {
	t.Helper()
	h := hdrhistogram.New(1, 60_000_000_000, 3)
	for range samples {
		if err := h.RecordValue(int64(median * math.Exp(sigma*rng.NormFloat64()))); err != nil {
			t.Fatal(err)
		}
	}
	blob, err := encode(h)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

var (
	environment = result.Environment{
		Machine: "Synthetic CPU", OS: "linux", Arch: "amd64", CPUs: 2, GoVersion: "go1.26.8", GOMAXPROCS: 2,
		GOGC: "100", GOMEMLIMIT: "none", LoadAverage: [3]float64{0.5, 0.4, 0.3}, Time: "2026-11-21T08:00:00Z",
	}
	mixed = result.Scenario{
		Name: "mixed", Mode: "closed", Goroutines: 512, Mix: "128:70,8192:30", Hold: "none", Garbage: "0",
		Rounds: 6, Duration: "1s", Sample: 8, Zero: "ZeroOnPut",
	}
)

func document(t testing.TB, sc result.Scenario, rounds []result.Round) result.Document {
	t.Helper()
	d, err := Summarise(environment, sc, map[string]string{"nop": "private buffers: the floor of the driver"}, rounds)
	if err != nil {
		t.Fatal(err)
	}
	d.Command = []string{"dewpond", "bench", "--contenders", "nop,make", "--html", "my report.html"}
	return d
}

func byName(t testing.TB, d result.Document, name string) *result.Contender {
	t.Helper()
	c := contender(d, name)
	if c == nil {
		t.Fatalf("no contender %q", name)
	}
	return c
}
