package together_test

import (
	"encoding/json"
	"expvar"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewexpvar"
	"github.com/dewpond/dewpond/contrib/dewprom"
)

// garbage keeps the compiler from leaving an allocation out.
var garbage []byte

// "dewpond advise" says of a pool in checked mode what sizes it was asked for, by either exporter: the true quantiles
// are in the bucket that it names, or in one beside it.
func TestAdviseReadsTheExporters(t *testing.T) {
	command := built(t)
	t.Setenv("DEWPOND_CHECK", "sampled=1/16")
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies"})
	defer p.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(dewprom.NewCollector())
	dewexpvar.Publish()

	for name, page := range map[string]http.Handler{
		"/metrics":    promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		"/debug/vars": expvar.Handler(),
	} {
		mux := http.NewServeMux()
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		var sizes []int
		looks := 0
		mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/allocs") { // the program does its work when it is asked, between the two pages
				mu.Lock()
				defer mu.Unlock()
				looks++
				for looks == 2 && len(sizes) < 100_000 {
					n := int(64 * math.Exp2(10*random.Float64()))
					sizes = append(sizes, n)
					b := p.Get(n)
					garbage = append([]byte(nil), b...) // for collections, without which there is no advice
					p.Put(b)
				}
			}
			pprof.Index(w, r)
		})
		mux.Handle(name, page)
		program := httptest.NewServer(mux)
		defer program.Close()

		file := filepath.Join(t.TempDir(), "advice.json")
		out, err := exec.Command(command, "advise", "--seconds", "1", "--no-cpu-profile", "--json", file, program.URL).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		type quantile struct{ Low, Mid, High float64 }
		var d struct {
			Pools []struct {
				Name    string
				Sampled *struct {
					Asked struct {
						Watched  float64
						P50, P90 quantile
					} `json:"asked_bytes"`
					Cap float64 `json:"cap_bytes"`
				}
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		if len(d.Pools) != 1 || d.Pools[0].Sampled == nil {
			t.Fatalf("%s: %s", name, text)
		}
		slices.Sort(sizes)
		asked := d.Pools[0].Sampled.Asked
		t.Logf("%s: %.0f watched, %+v and %+v, cap %.0f", name, asked.Watched, asked.P50, asked.P90, d.Pools[0].Sampled.Cap)
		for q, of := range map[float64]quantile{0.5: asked.P50, 0.9: asked.P90} {
			truth := float64(sizes[int(q*float64(len(sizes)))])
			if bucket := 1.25; of.Mid < truth/bucket || of.Mid > truth*bucket*bucket || of.Low > of.Mid || of.High < of.Mid {
				t.Errorf("%s: quantile %v is %+v, truly %v", name, q, of, truth)
			}
		}
		if size := d.Pools[0].Sampled.Cap; size < asked.P90.Mid || size > 1.25*asked.P90.Mid {
			t.Errorf("%s: the cap is %v for P90 %v", name, size, asked.P90.Mid)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "bodies, of those that checked mode watches: out P50") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
