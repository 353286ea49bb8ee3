package dewprom_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/metric"
	"github.com/dewpond/dewpond/offheap"
)

const deploy = "../../deploy/"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// program makes pools that have traffic of every kind, and returns what scrapes them.
func program(t *testing.T) http.Handler {
	t.Helper()
	p := pool(t, dewpond.BytePoolOptions{Name: "frames", Budget: dewpond.MustBudget("all", 64<<20), Check: dewpond.CheckSampled})
	p.Put(p.Get(1000))
	p.Put(p.Get(1000))
	if o, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "mapped"}); err == nil {
		t.Cleanup(func() { o.Close() })
		o.Put(o.Get(1000))
	} else {
		t.Log("without memory off the heap:", err)
	}
	return promhttp.HandlerFor(registry(), promhttp.HandlerOpts{})
}

// scraped returns the names of the metrics of a scrape.
func scraped(t *testing.T, h http.Handler) map[string]bool {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(w.Body.String(), -1) {
		names[m[1]] = true
	}
	return names
}

var metricName = regexp.MustCompile(`[a-z]+:dewpond_[a-z0-9_:]+|dewpond_[a-z0-9_]+`)

// An expr is one of the dashboard's.
type expr struct{ panel, text string }

func dashboard(t *testing.T) (all []expr) {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, deploy+"grafana/dewpond.json")), &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, expr{p.Title, target.Expr})
		}
	}
	if len(all) < 15 {
		t.Errorf("%d expressions", len(all))
	}
	return all
}

// Every metric that the dashboard and the rules name is in a scrape, or is recorded by a rule.
func TestDeployNamesMetricsThatExist(t *testing.T) {
	names := scraped(t, program(t))
	for _, m := range metric.List() {
		if strings.HasPrefix(m.Name, "offheap_") {
			names["dewpond_"+m.Name] = true // where there is no memory off the heap
		}
		if !names["dewpond_"+m.Name] {
			t.Errorf("dewpond_%s is in no scrape", m.Name)
		}
	}
	rules := read(t, deploy+"prometheus/rules.yaml")
	for _, m := range regexp.MustCompile(`record: (\S+)`).FindAllStringSubmatch(rules, -1) {
		names[m[1]] = true
	}
	check := func(where, text string) {
		for _, name := range metricName.FindAllString(text, -1) {
			if !names[name] {
				t.Errorf("%s names %s, which does not exist", where, name)
			}
		}
	}
	for line := range strings.Lines(rules) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			check("rules.yaml", line)
		}
	}
	for _, e := range dashboard(t) {
		if !metricName.MatchString(e.text) {
			t.Errorf("panel %q shows no metric of dewpond: %s", e.panel, e.text)
		}
		check("panel "+e.panel, e.text)
	}
}

// Every alert has its paragraph in the runbook, at the address that it gives, and its test;
// and the document lists every metric.
func TestRunbook(t *testing.T) {
	rules := read(t, deploy+"prometheus/rules.yaml") + read(t, deploy+"prometheus/slo.yaml")
	tests := read(t, deploy+"prometheus/rules_test.yaml") + read(t, deploy+"prometheus/slo_test.yaml")
	book := read(t, "../../docs/metrics.md")
	alerts := regexp.MustCompile(`(?s)alert: (\S+)\n(.*?)runbook_url: (\S+)`).FindAllStringSubmatch(rules, -1)
	if len(alerts) != strings.Count(rules, "- alert:") || len(alerts) < 11 {
		t.Errorf("%d alerts, of which %d have an address in the runbook", strings.Count(rules, "- alert:"), len(alerts))
	}
	for _, a := range alerts {
		name, address := a[1], a[3]
		if !strings.Contains(book, "\n### "+name+"\n") {
			t.Errorf("docs/metrics.md has no paragraph on %s", name)
		}
		if !strings.HasSuffix(address, "/docs/metrics.md#"+strings.ToLower(name)) {
			t.Errorf("%s gives the address %s", name, address)
		}
		if !strings.Contains(tests, `alertname="`+name+`"`) {
			t.Errorf("rules_test.yaml has no test of %s", name)
		}
	}
	for _, m := range append(metric.List(), metric.Shards()...) {
		if !strings.Contains(book, "`dewpond_"+m.Name+"`") || !strings.Contains(book, "`dewpond."+m.OTel+"`") {
			t.Errorf("docs/metrics.md does not list dewpond_%s and dewpond.%s", m.Name, m.OTel)
		}
	}
}

// tool returns a program of Debian's package prometheus, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("starts %s; the run without -short does", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s (apt-get install prometheus)", name)
	}
	return path
}

// Prometheus itself accepts the rules, and its tool finds every alert to fire when it must and
// only then.
func TestRulesByPromtool(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "rules.yaml", "slo.yaml"}, {"test", "rules", "rules_test.yaml", "slo_test.yaml"}} {
		c := exec.Command(promtool, args...)
		c.Dir = deploy + "prometheus"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Every panel of the dashboard shows something, asked of a Prometheus that scrapes a program.
// What is about events that this program has not had may be empty, but no error.
func TestDashboardInPrometheus(t *testing.T) {
	binary := tool(t, "prometheus")
	target := httptest.NewServer(program(t))
	defer target.Close()
	address := startPrometheus(t, binary, strings.TrimPrefix(target.URL, "http://"))
	for !ready(t, address) {
		time.Sleep(100 * time.Millisecond)
	}

	at := "" // the moment to ask for; "" is now
	replace := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$pool", ".*")
	ask := func(e expr) (n int, value any) {
		response, err := http.Get(address + "/api/v1/query?query=" + url.QueryEscape(replace.Replace(e.text)) + at)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var answer struct {
			Status, Error string
			Data          struct{ Result []struct{ Value [2]any } }
		}
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Status != "success" {
			t.Fatalf("panel %q: %v %s: %s", e.panel, err, answer.Error, e.text)
		}
		if n = len(answer.Data.Result); n > 0 {
			value = answer.Data.Result[0].Value[1]
		}
		return n, value
	}
	// Two scrapes are needed for a rate. The test waits for them as long as it takes, and asks for
	// the moment of the last: on a busy machine a later one may fail, after which there is nothing.
	for {
		const third = "timestamp(dewpond_pressure_level) and count_over_time(dewpond_pressure_level[5m]) >= 3"
		if n, moment := ask(expr{"two scrapes", third}); n > 0 {
			at = "&time=" + moment.(string)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, e := range dashboard(t) {
		if n, _ := ask(e); n == 0 && !strings.HasSuffix(e.text, "> 0") && !strings.Contains(e.text, "offheap") {
			t.Errorf("panel %q is empty: %s", e.panel, e.text)
		}
	}
}

// ready reports whether a Prometheus answers queries.
func ready(t *testing.T, address string) bool {
	response, err := http.Get(address + "/-/ready")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// startPrometheus starts one that scrapes a target every second, and returns its address.
func startPrometheus(t *testing.T, binary, target string) string {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: test\n    static_configs: [{targets: [%q]}]\n", target)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+dir, "--web.listen-address=127.0.0.1:0")
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return listening(t, log)
}

// listening returns the address that Prometheus logs that it listens on, and reads the rest of
// its log, so that it does not block.
func listening(t *testing.T, log io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(log)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if m := regexp.MustCompile(`msg="?Listening on"? address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, log)
			return "http://" + m[1]
		}
	}
	t.Fatalf("Prometheus has ended:\n%s", strings.Join(said, "\n"))
	return ""
}
