package top

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// One program's page, as contrib/dewexpvar and as contrib/dewprom writes it: a test of
// instruments/together holds the command to what these really write.
const (
	varsPage = `{"cmdline": ["x"], "dewpond": {"pressure_level": 1,
	"budgets": {"all": {"budget_used_bytes": 512, "budget_limit_bytes": 1024, "budget_over_bytes": 0}},
	"pools": {"fra\"mes": {
		"gets_total": {"512": {"hit": 90, "miss": 6}, "1024": {"hit": 0, "miss": 2}}, "gets_oversize_total": 2,
		"puts_total": {"512": 95}, "puts_dropped_total": {"full": 3, "foreign": 1}, "gets_refused_total": 7,
		"waits_total": 4, "wait_seconds_total": 1.5, "violations_total": 0, "gets_minus_puts": 5,
		"bytes": {"idle": 4096, "used": 1e3}, "trimmed_bytes_total": 64, "overhead_bytes": 9}}}}`
	textPage = `# HELP dewpond_bytes Bytes.
# TYPE dewpond_bytes gauge
dewpond_bytes{pool="fra\"mes",state="idle"} 4096
dewpond_bytes{pool="fra\"mes",state="used"} 1e+03
dewpond_gets_total{class="512",pool="fra\"mes",result="hit"} 90
dewpond_gets_total{class="512",pool="fra\"mes",result="miss"} 6 1700000000000
dewpond_gets_total{class="1024",pool="fra\"mes",result="miss"} 2
dewpond_gets_oversize_total{pool="fra\"mes"} 2
dewpond_puts_total{class="512",pool="fra\"mes"} 95
dewpond_puts_dropped_total{pool="fra\"mes",reason="full"} 3
dewpond_puts_dropped_total{pool="fra\"mes",reason="foreign"} 1
dewpond_gets_refused_total{pool="fra\"mes"} 7
dewpond_waits_total{pool="fra\"mes"} 4
dewpond_wait_seconds_total{pool="fra\"mes"} 1.5
dewpond_violations_total{pool="fra\"mes"} 0
dewpond_gets_minus_puts{pool="fra\"mes"} 5
dewpond_trimmed_bytes_total{pool="fra\"mes"} 64
dewpond_overhead_bytes{pool="fra\"mes"} 9
dewpond_budget_used_bytes{budget="all"} 512
dewpond_budget_limit_bytes{budget="all"} 1024
dewpond_pressure_level 1
go_goroutines 7
`
)

func TestParse(t *testing.T) {
	want := &Snapshot{
		Pools: map[string]*Pool{`fra"mes`: {
			Gets: 100, Misses: 10, Puts: 95, Refused: 7, Dropped: 4, Waits: 4, WaitSeconds: 1.5,
			Trimmed: 64, Out: 5, Idle: 4096, Used: 1000,
		}},
		Budgets:  map[string]*Budget{"all": {512, 1024}},
		Pressure: 1,
	}
	for name, page := range map[string]string{"vars": varsPage, "text": textPage} {
		got, err := parse([]byte(page))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, pool %+v", name, err, got.Pools[`fra"mes`])
		}
	}
	for _, page := range []string{"", "hello", "{}", `{"dewpond_x": 1}`, "go_goroutines 7\n", "<html>dewpond</html>"} {
		if _, err := parse([]byte(page)); !errors.Is(err, errNoPools) {
			t.Errorf("%q: %v", page, err)
		}
	}
	for _, page := range []string{"{", `{"dewpond": 1}`, "dewpond_gets_total", "dewpond_bytes{pool=x} 1", `dewpond_bytes{pool="x"`, `dewpond_bytes{pool="x"} y`, `dewpond_bytes{pool="x"}`} {
		if _, err := parse([]byte(page)); err == nil || errors.Is(err, errNoPools) {
			t.Errorf("%q: %v", page, err)
		}
	}
}

// FuzzParse shows that no page makes it panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(varsPage))
	f.Add([]byte(textPage))
	f.Fuzz(func(t *testing.T, page []byte) { parse(page) })
}

func serve(t *testing.T, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
		}
		w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Without a path both places are tried, and who has no metrics of dewpond is told the line.
func TestSource(t *testing.T) {
	for _, tt := range []struct {
		pages   map[string]string
		path    string
		missing bool
	}{
		{map[string]string{"/debug/vars": varsPage}, "", false},
		{map[string]string{"/metrics": textPage}, "/", false},
		{map[string]string{"/debug/vars": "{}", "/metrics": textPage}, "", false},
		{map[string]string{"/own": textPage}, "/own", false},
		{map[string]string{"/own": textPage}, "", true},
		{map[string]string{"/debug/vars": "{}"}, "/debug/vars", true},
	} {
		s, err := NewSource(strings.TrimPrefix(serve(t, tt.pages), "http://") + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := s.Fetch(context.Background())
			if tt.missing {
				if missing := new(MissingError); !errors.As(err, &missing) || !strings.Contains(err.Error(), "dewexpvar.Publish()") {
					t.Errorf("%v: %v", tt.pages, err)
				}
			} else if err != nil || len(got.Pools) != 1 {
				t.Errorf("%v: %v", tt.pages, err)
			}
		}
	}
	for _, address := range []string{"", "http://", "ftp://x", "::", "%"} {
		if _, err := NewSource(address); err == nil || !strings.Contains(err.Error(), "give one such as") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// A name, a password and a query are sent, and shown nowhere.
func TestSecret(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		sent <- name + " " + password + " " + r.URL.RawQuery
		w.WriteHeader(http.StatusTeapot)
	}))
	s, err := NewSource("http://joe:hunter2@" + server.Listener.Addr().String() + "/metrics?t=hunter3")
	if err != nil {
		t.Fatal(err)
	}
	_, teapot := s.Fetch(t.Context())
	if got := <-sent; got != "joe hunter2 t=hunter3" {
		t.Errorf("%q was sent", got)
	}
	server.Close()
	_, gone := s.Fetch(t.Context())
	_, unreadable := NewSource("http://joe:hun ter2@localhost")
	for _, err := range []error{teapot, gone, unreadable, &MissingError{s.URL}} {
		if err == nil || strings.Contains(err.Error(), "joe") || strings.Contains(err.Error(), "hun") {
			t.Errorf("%v", err)
		}
	}
}

// neverAnswers is a network on which each request waits until it is given up.
type neverAnswers struct{}

func (neverAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A target that never answers is an error after a while, at the first look already: Run has not
// touched the terminal, which is not there.
func TestNoAnswer(t *testing.T) {
	network := http.DefaultTransport
	http.DefaultTransport = neverAnswers{}
	defer func() { http.DefaultTransport = network }()
	synctest.Test(t, func(t *testing.T) { // whose clock jumps, and which fails if all wait forever
		source, err := NewSource("silent")
		if err != nil {
			t.Fatal(err)
		}
		err = Run(t.Context(), source, &Screen{Every: time.Second}, nil, nil)
		if want := "http://silent: no answer in 5s"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// Whatever a server sends, no control character of it reaches the terminal: not by a table, a
// screen or an error.
func TestHostileServer(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\n\r\n"
	for _, answer := range []string{
		text + "dewpond_bytes{pool=\"p\x1b[2J\u009b2J\",state=\"used\"} 1\ndewpond_budget_limit_bytes{budget=\"b\x1b[2J\"} 1\n",
		text + `dewpond_bytes{pool="p\x1b[2J\u009b2J\a",state="used"} 1` + "\n" + `dewpond_budget_limit_bytes{budget="b\x1b[2J"} 1`,
		text + `{"dewpond": {"pools": {"p\u001b[2J\u009b2J": {"bytes": {"used": 1}}}, "budgets": {"b\u001b[2J": {"budget_limit_bytes": 1}}}}`,
		text + `{"dewpond": {"pools": {"p\u001b[2J": "\u001b[2J"}}}`,
		text + "{\x1b[2J}",
		text + "dewpond_bytes{\x1b[2J} 1",
		text + "dewpond_bytes \x1b[2J",
		"HTTP/1.1 500 \x1b[2J\r\n\r\n",
		"HTTP/1.1 \x1b[2J\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: http://\x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: \x1b[2J\r\n\r\n",
		"\x1b[2J\r\n\r\n",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, answer)
		}))
		source, err := NewSource(server.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := source.Fetch(t.Context())
		server.Close()
		var shown strings.Builder
		screen := &Screen{URL: source.URL}
		if err != nil {
			shown.WriteString(err.Error())
			screen.Observe(at(0), newSnapshot(), nil)
		} else if err := Once(&shown, snapshot, ByBytes); err != nil || !strings.Contains(shown.String(), `\x1b[2J`) {
			t.Errorf("%q: %v, %q", answer, err, shown.String())
		}
		screen.Observe(at(1), snapshot, err)
		for _, line := range screen.Lines(terminal.Style{Width: 1000}, 50) {
			shown.WriteString("\n" + line)
		}
		if i := strings.IndexFunc(shown.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
			t.Errorf("%q shows %q", answer, shown.String()[i:])
		}
	}
}

func TestOnce(t *testing.T) {
	s := &Snapshot{Pools: map[string]*Pool{
		"few":        {Gets: 10, Misses: 1, Puts: 10, Out: 3, Used: 5},
		"many\x1b[m": {Gets: 20, Misses: 9, Puts: 10, Out: 1, Used: 6},
		"two words":  {Gets: 20, Misses: 9, Puts: 10, Out: 2, Used: 7},
	}}
	for order, want := range map[Order]string{
		ByMisses: `"many\x1b[m" "two\x20words" few`,
		ByGrowth: `few "two\x20words" "many\x1b[m"`,
		ByBytes:  `"two\x20words" "many\x1b[m" few`,
	} {
		var b bytes.Buffer
		if err := Once(&b, s, order); err != nil {
			t.Fatal(err)
		}
		var names []string
		for line := range strings.Lines(b.String()) {
			fields := strings.Fields(line)
			if len(fields) != 12 {
				t.Errorf("%d fields in %q", len(fields), line)
			}
			names = append(names, fields[0])
		}
		if got := strings.Join(names[1:], " "); got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
	}
}

// at is a time on the screen's clock.
func at(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }

func one(p Pool) *Snapshot {
	return &Snapshot{Pools: map[string]*Pool{"p": &p}, Budgets: map[string]*Budget{"all": {512, 1024}}}
}

func TestScreen(t *testing.T) {
	s := &Screen{URL: "http://x", Every: time.Second, Order: ByMisses}
	text := func() string { return strings.Join(s.Lines(terminal.Style{Width: 200}, 50), "\n") }
	says := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text(), w) {
				t.Errorf("the screen lacks %q:\n%s", w, text())
			}
		}
	}
	for i := range 5 {
		n := float64(i)
		s.Observe(at(2*i), one(Pool{Gets: 2000 * n, Misses: 20 * n * n, Used: 4096 * n, Refused: 10 * n, WaitSeconds: 6 * n}), nil)
	}
	// In the last two seconds: 2000 Gets, 140 misses, 4 KiB more in use.
	says("03:04:08", "1.0K   93.0  5/s refused, 3.0 waiting       70", "2.0KiB", "▁▂▄▆█", "5/s refused", "3.0 waiting", "budget all 512B of 1.0KiB (50%)", "pressure low")

	s.Observe(at(10), nil, errors.New("Get \"http://x\": connect: connection refused"))
	s.Observe(at(12), nil, errors.New("Get \"http://x\": connect: connection refused"))
	says("GONE since 03:04:10: connection refused", "1.0K") // what was known stays
	s.Observe(at(20), one(Pool{Gets: 10}), nil)
	says("back since 03:04:20, after 10s; its counters began anew")
	if strings.Contains(text(), "GONE") || strings.Contains(text(), "-0") {
		t.Errorf("still gone, or less than nothing:\n%s", text())
	}
	s.Observe(at(22), nil, &MissingError{"http://x"})
	says("without dewpond's metrics")

	for key, want := range map[byte]bool{'q': true, 3: true, 'm': false, 'x': false, 'b': false} {
		if s.Key(key) != want {
			t.Errorf("key %q quits: %v", key, !want)
		}
	}
	s.Key('g')
	says("sorted by growth")
}

// At 80 columns a pool's refusals and waiters stand beside its name. They and a full Budget are red.
func TestScreenShowsTrouble(t *testing.T) {
	s := &Screen{URL: "http://x", Order: ByMisses}
	for i := range 2 {
		n := float64(i)
		s.Observe(at(i), &Snapshot{
			Pools:   map[string]*Pool{"calm": {Gets: 100 * n}, "full": {Gets: 1000 * n, Refused: 295 * n, WaitSeconds: 46 * n}},
			Budgets: map[string]*Budget{"all": {960, 1000}},
		}, nil)
	}
	lines := s.Lines(terminal.Style{Width: 80, Colour: true}, 24)
	red := func(line string) bool { return strings.Contains(line, "\x1b[31m") }
	for _, line := range lines[5:] {
		if full := strings.Contains(line, "full"); full != strings.Contains(line, "295/s refused, 46.0 waiting") || full != red(line) {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(lines[4], "NOTES") || !red(lines[1]) {
		t.Errorf("%q", lines[:5])
	}
	s.now.Budgets["all"].Used = 500
	if lines := s.Lines(terminal.Style{Width: 80, Colour: true}, 24); red(lines[1]) {
		t.Errorf("a Budget that is half full: %q", lines[1])
	}
}

// No line is wider than the terminal, and not more of them than it has.
func TestScreenFits(t *testing.T) {
	s := &Screen{URL: "http://x", Order: ByBytes}
	all := newSnapshot()
	for i := range 30 {
		all.pool(strings.Repeat("é", i) + "pool").Idle = float64(i)
	}
	s.Observe(at(0), all, nil)
	for _, width := range []int{1, 20, 80, 200} {
		for _, height := range []int{1, 5, 24, 100} {
			lines := s.Lines(terminal.Style{Width: width}, height)
			if len(lines) > height {
				t.Errorf("%d lines of %d", len(lines), height)
			}
			for _, line := range lines {
				if len([]rune(line)) > width {
					t.Errorf("%q is wider than %d", line, width)
				}
			}
		}
	}
	if lines := s.Lines(terminal.Style{Width: 80}, 24); !strings.HasPrefix(lines[5], `ééé`) || lines[23] != "and 12 more pools" {
		t.Errorf("%q ... %q", lines[5], lines[23])
	}
}

func TestSparkline(t *testing.T) {
	for want, values := range map[string][]float64{
		"":         nil,
		"▁▁":       {0, 0},
		"▁█":       {0, 5},
		"▁▂▃▄▅▆▇█": {0, 1, 2, 3, 4, 5, 6, 7},
		"█▁":       {0, -3},
	} {
		if got := strings.TrimRight(sparkline(values), " "); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "999": 999, "1.0K": 1000, "99.9K": 99_900, "100K": 100_000, "1.0M": 999_990, "-1.5K": -1500, "1.0E": 1e18} {
		if got := number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := amount(1 << 30); got != "1.0GiB" {
		t.Error(got)
	}
}
