package dewprom_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewprom"
)

// Every pool of the program appears at /metrics.
func Example() {
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(dewprom.NewCollector())
	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "example"})
	defer pool.Close()
	b := pool.Get(500)
	pool.Put(b)

	w := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, `dewpond_gets_total{class="512",pool="example"`) {
			fmt.Print(line)
		}
	}
	// Output:
	// dewpond_gets_total{class="512",pool="example",result="hit"} 0
	// dewpond_gets_total{class="512",pool="example",result="miss"} 1
}
