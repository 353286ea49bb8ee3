package together_test

import (
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewexpvar"
	"github.com/dewpond/dewpond/contrib/dewprom"
)

// built returns the command dewpond, or skips the test.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	command := filepath.Join(t.TempDir(), "dewpond.exe")
	build := exec.Command("go", "build", "-o", command, ".")
	build.Dir = "../../cmd/dewpond"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return command
}

// "dewpond top" reads what the exporters really serve, and the same from either.
func TestTopReadsTheExporters(t *testing.T) {
	command := built(t)

	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "two words", Budget: dewpond.MustBudget("b", 64<<20)})
	defer p.Close()
	for range 9 {
		p.Put(p.Get(1000))
	}
	p.Get(1000)
	p.Get(4 << 20)
	p.Put(make([]byte, 100))

	dewexpvar.Publish()
	registry := prometheus.NewRegistry()
	registry.MustRegister(dewprom.NewCollector())
	vars := httptest.NewServer(expvar.Handler())
	defer vars.Close()
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	text := httptest.NewServer(mux)
	defer text.Close()

	s := p.Stats() // which Get hits is the engine's affair
	missed := s.Misses + s.Oversize
	want := fmt.Sprintf(`"two\x20words" 11 %.1f %d 9 1 1024 %d 1 0 0 0`, 100*(1-float64(missed)/11), missed, s.IdleBytes)
	for _, address := range []string{vars.URL + "/debug/vars", text.URL} {
		out, err := exec.Command(command, "top", "--once", address).CombinedOutput()
		for err != nil && strings.Contains(string(out), "no answer in") { // on a busy machine it may lose its patience
			out, err = exec.Command(command, "top", "--once", address).CombinedOutput()
		}
		lines := strings.Split(string(out), "\n")
		if err != nil || len(lines) != 3 || strings.Join(strings.Fields(lines[1]), " ") != want {
			t.Errorf("%s: %v\n%swant %s", address, err, out, want)
		}
	}
}
