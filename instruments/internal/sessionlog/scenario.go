package sessionlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Scenario is a scenario file, and the files that it draws from.
type Scenario struct {
	Text  string
	Lists map[string]string // by name
	// Left says what of the log is not in the scenario.
	Left []string
}

// poisson is the variation of the time between sessions from which arrivals are not even.
const poisson = 0.5

// pause is from how long on a gap between two requests is thinking.
const pause = 10 * time.Millisecond

// Scenario writes the scenario of sessions with these features. Lists that it needs are files
// whose names begin with prefix.
func (f *Features) Scenario(name, target, prefix string) Scenario {
	w := writer{taken: map[string]bool{}, lists: map[string]string{}, prefix: prefix}
	steps, left := f.steps()
	data := data(steps, w.name)
	names, shares := conditions(steps, len(f.sessions), w.name)

	w.line("name: %s", quote(name))
	w.line("target: %s", quote(target))
	process := "constant"
	if f.Variation > poisson {
		process = "poisson"
	}
	rate, seconds := max(f.Rate, 0.001), max(1, math.Round(f.Span.Seconds()))
	w.line("arrivals: {rate: %s/s, process: %s, duration: %gs, seed: 1}", number(rate), process, seconds)
	var protocols []string
	for _, p := range slices.Sorted(maps.Keys(f.protocols)) {
		protocols = append(protocols, fmt.Sprintf("%s: %s", p, number(100*f.protocols[p])))
	}
	if len(protocols) > 0 {
		w.line("protocols: {%s}", strings.Join(protocols, ", "))
	}
	if len(data)+len(names) > 0 {
		w.line("data:")
	}
	for _, d := range data {
		w.datum(d)
	}
	for _, n := range names {
		w.line("  %s: {share: %s}", n, number(100*shares[n]))
	}
	w.line("session:")
	for _, s := range steps {
		w.step(s)
	}
	return Scenario{Text: w.text.String(), Lists: w.lists, Left: left}
}

// A writer writes the file.
type writer struct {
	text   strings.Builder
	taken  map[string]bool
	lists  map[string]string
	prefix string
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// name returns a name as scenarios have it, which nothing else has.
func (w *writer) name(from string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, from), "_")
	if name == "" {
		name = "id"
	}
	free := name
	for i := 2; w.taken[free]; i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	w.taken[free] = true
	return free
}

func (w *writer) datum(d *datum) {
	times := ""
	if d.times > 1 {
		times = fmt.Sprintf(", times: %d", d.times)
	}
	if low, high, ok := d.integers(); ok {
		w.line("  %s: {integers: [%d, %d]%s} # the log has %d", d.name, low, high, times, len(d.distinct))
		return
	}
	file := w.prefix + d.name + ".txt"
	var lines strings.Builder
	for _, v := range d.distinct {
		if v != "" && !strings.ContainsAny(v, "\r\n") {
			lines.WriteString(v + "\n")
		}
	}
	w.lists[file] = lines.String()
	w.line("  %s: {lines: %s%s}", d.name, quote(file), times)
}

func (w *writer) step(s *step) {
	condition := ""
	if s.when != "" {
		condition = "when: " + s.when
	} else if s.unless != "" {
		condition = "unless: " + s.unless
	}
	if median := sortedQuantile(s.gaps, 0.5); median >= pause {
		longer := max(median, sortedQuantile(s.gaps, 0.95))
		w.line("  - think: {median: %v, p95: %v}", rounded(median), rounded(longer))
		if condition != "" {
			w.line("    %s", condition)
		}
	}
	w.line("  - name: %s", quote(s.name))
	if condition != "" {
		w.line("    %s", condition)
	}
	give := map[string]string{}
	item := ""
	for _, v := range s.variables {
		if v.data == nil {
			continue
		}
		name := v.data.name
		if v.item {
			item = w.name(strings.TrimSuffix(name, "s"))
			name = item
		}
		give[v.key] = literal(v.prefix) + "${" + name + "}" + literal(v.suffix)
	}
	if s.each != "" {
		if item == "" {
			item = w.name(s.name + " turn")
		}
		w.line("    each: {%s: %s, parallel: %t}", item, s.each, s.parallel())
	}
	switch s.sample.Protocol {
	case grpc:
		w.line("    grpc: %s", quote(literal(strings.TrimPrefix(s.sample.Path, "/"))))
		if body, ok := document(s.sample.Body); ok {
			w.line("    json: %s", encoded(fill(body, "body:", give)))
		}
	case webSocket:
		w.line("    websocket: %s", quote(address(s.sample, give)))
		w.message(s.sample, give)
		if s.sample.Received > 0 {
			w.line("    expect: {messages: 1}")
		}
	default:
		w.line("    %s: %s", strings.ToLower(s.sample.Method), quote(address(s.sample, give)))
		w.body(s.sample, give)
		if status := s.status(); status >= 100 && status <= 599 {
			w.line("    expect: {status: %d}", status)
		}
	}
}

// parallel reports whether calls of a session overlap.
func (s *step) parallel() bool {
	for _, calls := range s.calls {
		if overlap(calls) > 1 {
			return true
		}
	}
	return false
}

// status is the one that most answers have.
func (s *step) status() int {
	counts := map[int]int{}
	best := 0
	for _, calls := range s.calls {
		for _, r := range calls {
			counts[r.Status]++
			if n := counts[r.Status]; n > counts[best] || n == counts[best] && r.Status < best {
				best = r.Status
			}
		}
	}
	return best
}

// address returns the path and the query with names in place of ids.
func address(r *Request, give map[string]string) string {
	path, query, _ := strings.Cut(r.Path, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = literal(p)
		if text, ok := give["path:"+strconv.Itoa(i)]; ok {
			parts[i] = text
		}
	}
	out := strings.Join(parts, "/")
	parsed, err := url.ParseQuery(query)
	if err != nil || query == "" {
		return out
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		if text, ok := give["query:"+name]; ok {
			pairs = append(pairs, url.QueryEscape(name)+"="+text)
			continue
		}
		for _, v := range parsed[name] {
			pairs = append(pairs, url.QueryEscape(name)+"="+literal(url.QueryEscape(v)))
		}
	}
	return out + "?" + strings.Join(pairs, "&")
}

// longestUnknown is how many bytes stand for what was sent at most.
const longestUnknown = 1 << 10

// unknown stands for what was sent where the log does not have it.
func unknown(bytes int64) string {
	return quote(strings.Repeat("x", int(min(bytes, longestUnknown))))
}

// fillIn is the comment beside it.
const fillIn = "# the log does not have the %d bytes that were sent: fill them in"

func (w *writer) body(r *Request, give map[string]string) {
	if r.Sent == 0 {
		return
	}
	if body, ok := document(r.Body); ok {
		w.line("    json: %s", encoded(fill(body, "body:", give)))
		return
	}
	if r.Body != "" {
		w.line("    body: %s", quote(literal(r.Body)))
		return
	}
	w.line("    body: %s "+fillIn, unknown(r.Sent), r.Sent)
}

func (w *writer) message(r *Request, give map[string]string) {
	switch body, ok := document(r.Body); {
	case r.Sent == 0:
	case r.Hex != "":
		w.line("    send: {hex: %s}", quote(r.Hex))
	case ok:
		w.line("    send: {text: %s}", quote(encoded(fill(body, "body:", give))))
	case r.Body != "":
		w.line("    send: {text: %s}", quote(literal(r.Body)))
	default:
		w.line("    send: {text: %s} "+fillIn, unknown(r.Sent), r.Sent)
	}
}

// quote writes a text as JSON does, which YAML reads.
func quote(s string) string { return encoded(s) }

func encoded(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // what JSON gave, it takes
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// number writes a number with five digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// rounded leaves out what a tenth of a percent does not need.
func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
