package scales

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/known"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
)

// A rival is another load generator: it is run as it is found, and never linked.
type rival struct {
	name   string
	grpc   bool   // and not HTTP
	steady bool   // it is also given the target that takes the same time for each request
	why    string // its figures differ, or do not
	args   func(j job, url, dir string) ([]string, error)
	read   func(out []byte, dir string) (quantiles, error)
}

var rivals = []rival{
	{
		name:   "k6",
		steady: true,
		why:    "constant-arrival-rate: the clock begins each request, whatever the target does, so it agrees while it has VUs enough.",
		args:   k6Args, read: readK6,
	}, {
		name:   "h2load",
		steady: true,
		why:    "each of its 10 connections waits for its answer before it asks again, so a stall holds up ten requests where a hundred were due.",
		args: func(j job, url, dir string) ([]string, error) {
			return []string{"--h1", "-c", strconv.Itoa(clients), "--rps", strconv.Itoa(j.rate / clients), "-D", seconds(j.time), "--log-file", filepath.Join(dir, h2loadLog), url + j.path}, removed(filepath.Join(dir, h2loadLog))
		},
		read: readH2load,
	}, {
		name:   "hey",
		steady: true,
		why:    "each of its 10 workers waits for its answer before it asks again, so a stall holds up ten requests where a hundred were due.",
		args: func(j job, url, _ string) ([]string, error) {
			return []string{"-z", j.time.String(), "-c", strconv.Itoa(clients), "-q", strconv.Itoa(j.rate / clients), url + j.path}, nil
		},
		read: readHey,
	}, {
		name: "wrk",
		why:  "it has no rate: its 10 connections ask again at once, and it corrects its histogram afterwards by the mean interval, a model that fits this target.",
		args: func(j job, url, _ string) ([]string, error) {
			return []string{"-t", "1", "-c", strconv.Itoa(clients), "-d", seconds(j.time), "--latency", url + j.path}, nil
		},
		read: readWrk,
	}, {
		name: "ghz",
		grpc: true,
		why:  "each of its 10 workers waits for its answer before it asks again, so a stall holds up ten calls where a hundred were due.",
		args: func(j job, url, _ string) ([]string, error) {
			service, err := json.Marshal(map[string]string{"service": known.StallService})
			return []string{
				"--insecure", "--call", strings.Replace(known.Call, "/", ".", 1), "-d", string(service), "--rps", strconv.Itoa(j.rate), "-c", strconv.Itoa(clients),
				"-z", j.time.String(), "-O", "json", strings.TrimPrefix(url, "http://"),
			}, err
		},
		read: readGhz,
	},
}

// seconds are whole ones, for tools that count in them.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// removed removes what the last round left.
func removed(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// h2loadLog is where h2load writes a line for each request: it prints no percentiles.
const h2loadLog = "h2load.log"

// readH2load reads lines of the start, the status and the microseconds of a request.
func readH2load(_ []byte, dir string) (quantiles, error) {
	data, err := os.ReadFile(filepath.Join(dir, h2loadLog))
	if err != nil {
		return nil, err
	}
	var all []float64
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[1] != "200" {
			return nil, fmt.Errorf("its log has a line %q", lines.Text())
		}
		µs, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, err
		}
		all = append(all, 1e3*µs)
	}
	if len(all) == 0 {
		return nil, errors.New("its log has no requests")
	}
	slices.Sort(all)
	return quantiles{"p50": quantile.Of(all, 0.5), "p95": quantile.Of(all, 0.95), "p99": quantile.Of(all, 0.99)}, nil
}

var (
	heyLine = regexp.MustCompile(`(?m)^\s*(50|95|99)%+ in ([0-9.]+) secs`)
	wrkLine = regexp.MustCompile(`(?m)^\s*(50|95|99)%\s+([0-9.]+)(us|ms|s)\b`)
)

func readHey(out []byte, _ string) (quantiles, error) { return readLines(out, heyLine) }

func readWrk(out []byte, _ string) (quantiles, error) { return readLines(out, wrkLine) }

// readLines reads a percentile, a number, and a unit if there is one; else it is seconds.
func readLines(out []byte, line *regexp.Regexp) (quantiles, error) {
	q := quantiles{}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, err
		}
		unit := 1e9
		if len(m) > 3 {
			unit = map[string]float64{"us": 1e3, "ms": 1e6, "s": 1e9}[m[3]]
		}
		q["p"+m[1]] = v * unit
	}
	if len(q) == 0 {
		return nil, fmt.Errorf("it printed no percentiles: %.200q", out)
	}
	return q, nil
}

func readGhz(out []byte, _ string) (quantiles, error) {
	var report struct {
		LatencyDistribution []struct {
			Percentage int     `json:"percentage"`
			Latency    float64 `json:"latency"`
		} `json:"latencyDistribution"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, err
	}
	q := quantiles{}
	for _, l := range report.LatencyDistribution {
		if l.Percentage == 50 || l.Percentage == 95 || l.Percentage == 99 {
			q["p"+strconv.Itoa(l.Percentage)] = l.Latency
		}
	}
	if len(q) == 0 {
		return nil, errors.New("its report has no percentiles")
	}
	return q, nil
}

// k6Args writes a script, for k6 takes nothing else.
func k6Args(j job, url, dir string) ([]string, error) {
	name := filepath.Join(dir, "k6.js")
	script := fmt.Sprintf(`import http from 'k6/http';
export const options = {
  scenarios: {clock: {executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%s', preAllocatedVUs: 200, maxVUs: 1000}},
  summaryTrendStats: ['med', 'p(95)', 'p(99)'], discardResponseBodies: true,
};
export default function () { http.get(%q); }
export function handleSummary(data) { return {stdout: JSON.stringify(data.metrics.http_req_duration.values)}; }
`, j.rate, j.time, url+j.path)
	return []string{"run", "--quiet", "--no-usage-report", name}, os.WriteFile(name, []byte(script), 0o644)
}

// readK6 reads milliseconds.
func readK6(out []byte, _ string) (quantiles, error) {
	i := bytes.IndexByte(out, '{')
	if i < 0 {
		return nil, fmt.Errorf("it printed no summary: %.200q", out)
	}
	var ms map[string]float64
	if err := json.NewDecoder(bytes.NewReader(out[i:])).Decode(&ms); err != nil {
		return nil, err
	}
	q := quantiles{}
	for name, key := range map[string]string{"p50": "med", "p95": "p(95)", "p99": "p(99)"} {
		if v, ok := ms[key]; ok {
			q[name] = 1e6 * v
		}
	}
	return q, nil
}
