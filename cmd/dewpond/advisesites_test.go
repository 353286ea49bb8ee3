package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/made"
)

// shop is a program: at second n of its life it has allocated in proportion.
type shop struct {
	change  func(*made.Heap)
	stats   func(*made.MemStats)
	samples int64 // of the CPU, in the collector
}

var shopSource = filepath.Join("testdata", "advise", "shop")

func frame(function string, line int) made.Call {
	return made.Call{Function: function, File: "/build/shop/main.go", Line: line}
}

func (s shop) heap(n int64) []byte {
	serve := []made.Call{frame("main.serve", 24), {Function: "net/http.serve", File: "/go/src/net/http/server.go", Line: 1}}
	of := func(function string, line int) []made.Call {
		return append([]made.Call{frame(function, line)}, serve...)
	}
	h := made.Heap{At: time.Unix(1000+n, 0), Binary: "/srv/shop", Samples: []made.Sample{
		{Stack: of("main.answer", 10), Size: 16384, Objects: 6000 * n},
		{Stack: of("main.cache", 15), Size: 4096, Objects: 800 * n, Live: 2000},
		{Stack: of("main.label", 20), Size: 2048, Objects: 5000 * n},
		{Stack: of("main.serve", 24), Size: 8 << 20, Objects: 5, Live: 5}, // since the start
	}}
	if s.change != nil {
		s.change(&h)
	}
	return made.Packed(h.Profile())
}

func (s shop) memstats(n int64) []byte {
	m := made.MemStats{TotalAlloc: uint64(112e6 * n), NextGC: 100e6, NumGC: uint64(2 * n), Second: 1000 + n}
	if s.stats != nil {
		s.stats(&m)
	}
	return m.Text()
}

func (s shop) cpu() []byte {
	of := func(n int64, functions ...string) made.Sample {
		var stack []made.Call
		for _, f := range functions {
			stack = append(stack, frame(f, 10))
		}
		return made.Sample{Stack: stack, Objects: n}
	}
	return made.Packed(made.CPU{Samples: []made.Sample{
		of(s.samples, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"),
		of(500, "runtime.scanobject", "runtime.gcDrain", "runtime.gcDrainMarkWorkerIdle", "runtime.gcBgMarkWorker"),
		of(s.samples/2, "runtime.memclrNoHeapPointers", "runtime.mallocgc", "main.answer"),
		of(10000, "main.work"),
	}}.Profile())
}

// write writes the files of a time span, and returns their names.
func (s shop) write(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		var data []byte
		switch name {
		case "heap10.pb.gz":
			data = s.heap(10)
		case "heap20.pb.gz":
			data = s.heap(20)
		case "10.txt":
			data = s.memstats(10)
		case "20.txt":
			data = s.memstats(20)
		case "cpu.pb.gz":
			data = s.cpu()
		default:
			t.Fatalf("no file %s", name)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// file writes any text.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mutexes returns a profile of another kind.
func mutexes(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("mutex").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// advise runs the command, and returns what it writes, and its exit status.
func advise(t *testing.T, args ...string) (out string, status int, err error) {
	t.Helper()
	stdout := os.Stdout
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = write
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(read)
		text <- string(all)
	}()
	_, err = do(newParser(), append([]string{"advise", "--src", shopSource}, args...))
	os.Stdout = stdout
	write.Close()
	out = <-text
	if err == nil {
		return out, 0, nil
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return out, coded.ExitCode(), err
	}
	return out, 1, err
}

var everything = []string{"heap10.pb.gz", "heap20.pb.gz", "10.txt", "20.txt", "cpu.pb.gz"}

// That a CPU profile changes a small heap is said, where there is one.
func TestAdviseSmall(t *testing.T) {
	small := shop{samples: 2000, stats: func(m *made.MemStats) { m.NextGC = 5e6 }}
	for says, names := range map[bool][]string{true: everything, false: everything[:4]} {
		out, _, err := advise(t, small.write(t, names...)...)
		if err != nil || strings.Contains(out, "--no-cpu-profile") != says {
			t.Errorf("%v with %v:\n%s", err, names, out)
		}
	}
}

// From two profiles, two texts of MemStats and a CPU profile comes the whole answer, as text and as JSON.
func TestAdviseFiles(t *testing.T) {
	document := filepath.Join(t.TempDir(), "advice.json")
	out, status, err := advise(t, append(shop{samples: 2000}.write(t, everything...), "--json", document)...)
	if err != nil || status != 0 {
		t.Fatal(err)
	}
	for _, want := range []string{
		"collector: 2 collections/s (20 collections)", "of the CPU (CPU profile)", "goal 100 MB, as if GOGC 100 and no memory limit (if that is not so, give --gogc and --memory-limit)",
		"main.go:10 answer", "BytePool", `dewpond.BytePoolOptions{Name: "answer"}`,
		"none: a string", "none: 2.93 % of the bytes", "1: 0.25 [", "instead of 2",
		"Sizes are those that Go allocates", "One block in 524 kB was sampled, in 10.0 s",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var d advice.Document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Verdict != advice.Pool || len(d.Sites) != 3 || d.Sites[0].Function != "main.answer" || len(d.Together.Sites) != 1 || d.Sites[0].Sizes[16384].Mid < 6000 {
		t.Errorf("the document is %s", text)
	}
	// Idle-time work is no cost: 2000 of 13,500 samples are the collector's.
	if share := d.Collector.CPUShare.Mid; share < 0.147 || share > 0.149 {
		t.Errorf("the collector has %v of the CPU", share)
	}
	if share := d.Sites[0].AllocationCPU.Mid; share < 0.073 || share > 0.075 {
		t.Errorf("allocation at the site has %v of the CPU", share)
	}
}

// gctraceOf is what a program writes that is collected twice a second. Sizes are in MiB.
func gctraceOf(cycles, live, goal int) string {
	var text strings.Builder
	for i := range cycles {
		fmt.Fprintf(&text, "gc %d @%.3fs 5%%: 0.01+90+0.01 ms clock, 0.02+10/90/50+0.02 ms cpu, %d->%d->%d MB, %d MB goal, 1 MB stacks, 1 MB globals, 2 P\n", i+1, float64(i)/2, goal-3, goal, live, goal)
	}
	return text.String()
}

// limitedTrace is of a program whose goal is the limit's, whatever lives.
func limitedTrace() string {
	var text strings.Builder
	for i := range 40 {
		for line := range strings.Lines(gctraceOf(i+1, 30+i%30, 100)) {
			if strings.HasPrefix(line, fmt.Sprintf("gc %d ", i+1)) {
				text.WriteString(line)
			}
		}
	}
	return text.String()
}

// A gctrace says beside profiles how often the collector runs, and what it takes. Its own time need not be
// theirs.
func TestAdviseTrace(t *testing.T) {
	profiles := shop{}.write(t, "heap10.pb.gz", "heap20.pb.gz")
	words := func(args ...string) string {
		t.Helper()
		out, status, err := advise(t, append(args, profiles...)...)
		if err != nil || status != 0 {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(out), " ")
	}
	of := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	// 100 ms of two processors' 500 for each collection, without idle-time work
	plain := words(file(t, "listening\n"+gctraceOf(41, 48, 96)))
	of(plain, "collector: 2 collections/s (40 collections)", "10 % [9.75, 10.3] of the CPU (gctrace, of the time of all processors, also when they were idle)",
		"live 50.9 MB [48.3, 53.4]", "goal 101 MB [101, 102]", "GOGC 100, no memory limit", "main.go:10 answer BytePool", "1: 0.2", "instead of 2")
	if strings.Contains(plain, "By the gctrace") {
		t.Errorf("a gctrace of the same load is taken for another's:\n%s", plain)
	}
	of(words(file(t, gctraceOf(41, 8, 16))), "By the gctrace 16.8 MB were allocated a second, by the profiles 112 MB: give the lines of the time between the profiles")
	of(words(file(t, strings.Replace(gctraceOf(41, 48, 96), "48 MB, 96 MB goal", "48 MB, oops", 1))), "1 line of gctrace could not be read", "collector: 2 collections/s")
	of(words("--gogc", "off", "--memory-limit", "120MiB", file(t, limitedTrace())), "GOGC off, memory limit 126 MB", "goal 105 MB")

	// What runtime.MemStats say of the collections is of the window itself.
	profiles = shop{}.write(t, "heap10.pb.gz", "heap20.pb.gz", "10.txt", "20.txt")
	of(words(file(t, gctraceOf(41, 20, 40))), "collector: 2 collections/s (20 collections)", "goal 100 MB", "of the CPU (runtime.MemStats")
	profiles = shop{stats: func(m *made.MemStats) { m.NumGC += 1000 }}.write(t, "heap10.pb.gz", "heap20.pb.gz", "10.txt", "20.txt")
	of(words(file(t, gctraceOf(41, 20, 40))), "collector: 2 collections/s (20 collections)", "of the CPU (gctrace")
}

// A CPU profile of a moment does not take the place of what MemStats say.
func TestAdviseShortProfile(t *testing.T) {
	short := file(t, string(made.Packed(made.CPU{Samples: []made.Sample{{Stack: []made.Call{frame("main.work", 10)}, Objects: 50}}}.Profile())))
	out, _, err := advise(t, append(shop{}.write(t, "heap10.pb.gz", "heap20.pb.gz", "10.txt", "20.txt"), short)...)
	if words := strings.Join(strings.Fields(out), " "); err != nil || !strings.Contains(words, "10 % of the CPU (runtime.MemStats, of the time") || strings.Contains(words, "allocation:") {
		t.Errorf("%v:\n%s", err, out)
	}
	out, _, err = advise(t, append(shop{stats: func(m *made.MemStats) { m.NumGC += 1000 }}.write(t, "heap10.pb.gz", "heap20.pb.gz", "10.txt", "20.txt"), short)...)
	if words := strings.Join(strings.Fields(out), " "); err != nil || !strings.Contains(words, "share of the CPU not known (50 samples are too few") {
		t.Errorf("after a long run: %v:\n%s", err, out)
	}
}

// After more collections than the runtime remembers, the collector's share is known without a CPU profile if the
// program says when it began, or serves runtime/metrics.
func TestAdviseLongRun(t *testing.T) {
	s := shop{samples: 2000, stats: func(m *made.MemStats) { m.NumGC += 1000 }}
	var looks atomic.Int64
	var metrics, vars atomic.Bool
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := looks.Load()
		switch path := r.URL.RequestURI(); {
		case path == "/debug/pprof/heap?debug=1":
			_, _ = w.Write(s.memstats(at + 1))
		case path == "/debug/pprof/allocs":
			_, _ = w.Write(s.heap(looks.Add(1)))
		case path == "/metrics" && metrics.Load():
			fmt.Fprintf(w, "go_memstats_alloc_bytes_total %d\ngo_memstats_next_gc_bytes 1e8\ngo_gc_duration_seconds_count %d\nprocess_start_time_seconds 500\n", 100e6*at, 1000+2*at)
		case path == "/debug/vars" && vars.Load():
			fmt.Fprintf(w, `{"runtime/metrics": {"time": %d, "/gc/heap/allocs:bytes": %d, "/gc/heap/goal:bytes": 100000000, "/gc/cycles/automatic:gc-cycles": %d,
				"/gc/gogc:percent": 150, "/gc/gomemlimit:bytes": 9223372036854775807,
				"/cpu/classes/gc/total:cpu-seconds": %d, "/cpu/classes/gc/mark/idle:cpu-seconds": 0, "/cpu/classes/user:cpu-seconds": %d, "/cpu/classes/scavenge/total:cpu-seconds": 0}}`,
				1000+at, int(100e6*at), 1000+2*at, at, 3*at)
		default:
			http.NotFound(w, r)
		}
	}))
	defer program.Close()
	for _, of := range []struct {
		metrics, vars bool
		says          string
	}{
		{false, false, "share of the CPU not known (the runtime has it since the program's start alone, and remembers 256 collections: give a CPU profile or a gctrace"},
		{true, false, "10 % of the CPU (runtime.MemStats, of the time of all processors"},
		{true, true, "25 % [22.5, 27.5] of the CPU (runtime/metrics, which count what neighbours take"},
		{false, true, "GOGC 150, no memory limit"},
	} {
		looks.Store(0)
		metrics.Store(of.metrics)
		vars.Store(of.vars)
		out, _, err := advise(t, "--seconds", "1", "--no-cpu-profile", program.URL)
		if words := strings.Join(strings.Fields(out), " "); err != nil || !strings.Contains(words, of.says) {
			t.Errorf("with metrics %v and vars %v: %v, no %q in\n%s", of.metrics, of.vars, err, of.says, out)
		}
	}
}

// What nobody could feel is the whole answer.
func TestAdviseNothing(t *testing.T) {
	out, status, err := advise(t, append([]string{"--check"}, shop{samples: 60}.write(t, everything...)...)...)
	if err != nil || status != 0 || !strings.Contains(out, "A pool would buy nothing that you could feel") || strings.Contains(out, "BytePool") {
		t.Errorf("status %d, %v:\n%s", status, err, out)
	}
}

// --check fails where something is worth a pool, and only there.
func TestAdviseCheck(t *testing.T) {
	files := shop{samples: 2000}.write(t, everything...)
	if _, status, err := advise(t, append([]string{"--check"}, files...)...); status != 1 || err == nil || !strings.Contains(err.Error(), "1 site to pool") {
		t.Errorf("status %d, %v", status, err)
	}
	if _, status, err := advise(t, append([]string{"--check", "--min-gain", "99"}, files...)...); status != 0 || err != nil {
		t.Errorf("with a bound above the gain: status %d, %v", status, err)
	}
}

// Each wrong source has a sentence of its own, which says what to do, and status 2.
func TestAdviseRefuses(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/html") {
			fmt.Fprint(w, "<!doctype html><p>hello")
			return
		}
		http.NotFound(w, r)
	}))
	defer page.Close()
	later := func(change func(*made.Heap)) func(*made.Heap) {
		return func(h *made.Heap) {
			if h.At == time.Unix(1020, 0) {
				change(h)
			}
		}
	}
	two := []string{"heap10.pb.gz", "heap20.pb.gz"}
	profile := shop{}.heap(10)
	join := func(all ...[]string) (out []string) {
		for _, a := range all {
			out = append(out, a...)
		}
		return out
	}
	reversed := shop{}.write(t, "heap20.pb.gz", "heap10.pb.gz")
	stats := shop{}.write(t, "10.txt", "20.txt")
	for name, of := range map[string]struct {
		args []string
		says string
	}{
		"no profile":              {[]string{file(t, "once upon a time")}, "no profile, no gctrace and no text of heap?debug=1: save"},
		"garbage":                 {[]string{file(t, "\x0a\x02\x08\x63")}, "it is no profile of pprof"},
		"empty":                   {[]string{file(t, "")}, "it is empty"},
		"no file":                 {[]string{"no-such-file"}, "there is no such file: give a profile, or a URL"},
		"a directory":             {[]string{t.TempDir()}, "is a directory: give the profiles in it"},
		"cut off":                 {[]string{file(t, string(profile[:len(profile)/2]))}, "the profile is cut off: save it again"},
		"memstats cut off":        {[]string{file(t, "heap profile: 0: 0 [0: 0] @ heap/1048576\n# runtime.MemStats\n# NumGC = 1\n")}, "no runtime.MemStats in it: give what"},
		"a trace":                 {[]string{file(t, "go 1.26 trace\x00\x00\x00")}, "it is an execution trace: dewpond advise settings reads it"},
		"a gctrace alone":         {[]string{file(t, gctraceOf(10, 48, 96))}, "a gctrace alone has no allocations: dewpond advise settings says"},
		"a gctrace cut off":       {[]string{file(t, "gc 1 @0.014s 2%: 0.026+0.38+0.017 ms clock")}, "no profile, no gctrace and no text of heap?debug=1"},
		"two gctraces":            {join(shop{}.write(t, two...), []string{file(t, gctraceOf(10, 48, 96)), file(t, gctraceOf(10, 48, 96))}), "it is a second gctrace"},
		"a gctrace of one":        {join(shop{}.write(t, two...), []string{file(t, gctraceOf(1, 48, 96))}), "it has one collection"},
		"a gctrace of another":    {join(shop{}.write(t, two...), []string{file(t, gctraceOf(10, 48, 96)+gctraceOf(10, 48, 96))}), "the cycles begin anew within it"},
		"a gctrace under a limit": {join(shop{}.write(t, two...), []string{file(t, limitedTrace())}), "so a memory limit sets them: give it, as in --memory-limit 512MiB"},
		"a CPU profile alone":     {shop{}.write(t, "cpu.pb.gz"), "a CPU profile alone has no allocations"},
		"another kind of profile": {[]string{file(t, string(mutexes(t)))}, "the profile has no allocations in it: give one of /debug/pprof/heap or /debug/pprof/allocs"},
		"two CPU profiles":        {join(shop{}.write(t, "cpu.pb.gz"), shop{}.write(t, "cpu.pb.gz")), "it is a second CPU profile"},
		"stats alone":             {stats, "no profile of the heap: give one of"},
		"one text of stats":       {join(shop{}.write(t, two...), stats[:1]), "one text of heap?debug=1 alone"},
		"stats in disorder":       {join(shop{}.write(t, two...), []string{stats[1], stats[0]}), "the second text of heap?debug=1 is older than the first"},
		"stats of another load":   {shop{stats: func(m *made.MemStats) { m.TotalAlloc *= 10 }}.write(t, everything...), "the texts of heap?debug=1 and the profiles do not go together"},
		"stats of a later program": {shop{stats: func(m *made.MemStats) {
			if m.Second == 1020 {
				m.Oldest = 1015
			}
		}}.write(t, everything...), "the second text of heap?debug=1 is older than the first, or of another process"},
		"one since the start":   {shop{}.write(t, "heap10.pb.gz"), "it counts since the start of the program"},
		"older second":          {reversed, "the second profile is older than the first"},
		"another program":       {shop{change: later(func(h *made.Heap) { h.Binary = "/srv/other" })}.write(t, two...), "the profiles are of different programs"},
		"another rate":          {shop{change: later(func(h *made.Heap) { h.Rate = 1024 })}.write(t, two...), "sampled at different rates"},
		"a window among others": {shop{change: later(func(h *made.Heap) { h.Duration = time.Second })}.write(t, two...), "one of the profiles has a duration (1s): give it alone"},
		"nothing sampled":       {shop{change: func(h *made.Heap) { h.Samples = nil }}.write(t, two...), "no allocation was sampled in the window"},
		"no collection":         {shop{stats: func(m *made.MemStats) { m.NumGC = 7 }}.write(t, everything...), "the garbage collector has not run in the window"},
		"forced alone":          {shop{stats: func(m *made.MemStats) { m.NumForcedGC = m.NumGC }}.write(t, everything...), "all 20 collections of the window were asked for by the program"},
		"404":                   {[]string{"--seconds", "1", page.URL}, "the answer is 404: there is no net/http/pprof there. Import it"},
		"shouted":               {[]string{"HTTP://joe:hun ter2@localhost"}, "the URL (not shown, as it may have a password) is no address"},
		"HTML":                  {[]string{"--seconds", "1", page.URL + "/html"}, "a page of HTML and no profile"},
		"two URLs":              {[]string{page.URL, page.URL}, "give one URL alone, or files"},
		"a URL and a file":      {[]string{page.URL, file(t, "x")}, "give one URL alone, or files"},
		"no address":            {[]string{"http://"}, "is no address: give one such as http://localhost:6060/debug/pprof"},
		"--seconds":             {[]string{"--seconds", "0", page.URL}, "--seconds: 0: give 1 to 3600"},
		"--min-gain":            {[]string{"--min-gain", "101", page.URL}, "--min-gain: 101: give 0 to 100 %"},
		"--gogc":                {[]string{"--gogc", "many", page.URL}, `--gogc: "many" is no GOGC: give a number such as 100, or off`},
		"--memory-limit":        {[]string{"--memory-limit", "many", page.URL}, `--memory-limit: "many" is not an amount of bytes`},
		"--idle":                {[]string{"--idle", "many", page.URL}, `--idle: "many" is not an amount of bytes`},
		"--src":                 {[]string{"--src", "no-such-dir", page.URL}, "--src: "},
		"--json":                {[]string{"--json", "no-such-dir/x.json", page.URL}, "--json: "},
	} {
		t.Run(name, func(t *testing.T) {
			out, status, err := advise(t, of.args...)
			if status != 2 || err == nil || !strings.Contains(err.Error(), of.says) || out != "" {
				t.Errorf("status %d, %v, want %q\n%s", status, err, of.says, out)
			}
		})
	}
}

// A running program is asked for all that is needed, and told before what that costs it.
func TestAdviseURL(t *testing.T) {
	s := shop{samples: 2000}
	var looks atomic.Int64
	var busy atomic.Bool
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.RequestURI() {
		case "/debug/pprof/heap?debug=1":
			_, _ = w.Write(s.memstats(looks.Load() + 1))
		case "/debug/pprof/allocs":
			_, _ = w.Write(s.heap(looks.Add(1)))
		case "/debug/pprof/profile?seconds=1":
			if busy.Load() {
				http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
				return
			}
			_, _ = w.Write(s.cpu())
		case "/metrics":
			fmt.Fprintf(w, "go_gc_gogc_percent 200\ngo_gc_gomemlimit_bytes 9.223372036854776e+18\n"+
				"dewpond_gets_total{class=\"512\",pool=\"frames\",result=\"miss\"} %d\ndewpond_puts_dropped_total{pool=\"frames\",reason=\"full\"} %[1]d\n", looks.Load())
		default:
			http.NotFound(w, r)
		}
	}))
	defer program.Close()
	out, _, err := advise(t, "--seconds", "1", program.URL)
	if err != nil || looks.Load() != 6 || !strings.Contains(out, "of the CPU (CPU profile)") || !strings.Contains(out, "BytePool") {
		t.Errorf("asked %d times, %v:\n%s", looks.Load(), err, out)
	}
	// What its metrics say of the collector holds, and what they say of its pools is looked at.
	if words := strings.Join(strings.Fields(out), " "); !strings.Contains(words, "GOGC 200, no memory limit") || !strings.Contains(words, "frames: it drops 5 blocks as full, and allocates in class 512 meanwhile") {
		t.Errorf("the metrics are not in\n%s", out)
	}
	busy.Store(true)
	looks.Store(0)
	out, _, err = advise(t, "--seconds", "1", program.URL)
	if err != nil || !strings.Contains(out, "cpu profiling already in use") || !strings.Contains(strings.Join(strings.Fields(out), " "), "of the CPU (runtime.MemStats, of the time of all processors") {
		t.Errorf("where a profile is being taken: %v:\n%s", err, out)
	}
}

// The schema in the help names every field of the JSON.
func TestAdviseSchema(t *testing.T) {
	help := new(adviseSitesCommand).Help()
	var names func(of reflect.Type)
	seen := 0
	names = func(of reflect.Type) {
		switch {
		case of.Kind() == reflect.Slice, of.Kind() == reflect.Pointer:
			names(of.Elem())
		case of.Kind() == reflect.Struct && of != reflect.TypeFor[estimate.Estimate]():
			for i := range of.NumField() {
				name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
				if name == "" {
					continue
				}
				seen++
				if !regexp.MustCompile(`\b` + name + `\b`).MatchString(help) {
					t.Errorf("the help does not name %s", name)
				}
				names(of.Field(i).Type)
			}
		}
	}
	names(reflect.TypeFor[advice.Document]())
	if seen < 30 {
		t.Errorf("%d fields seen", seen)
	}
}
