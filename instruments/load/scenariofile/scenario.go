package scenariofile

import (
	"encoding/csv"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/load"
)

// scenario reads the whole file.
func (f *File) scenario(n ast.Node) {
	o := f.object(n, "", "name", "target", "arrivals", "protocols", "connections", "limits", "header", "descriptors", "data", "session", "thresholds", "abort")
	s := &f.Scenario
	s.Name, s.Target = o.text("name"), o.text("target")
	if s.Name == "" {
		s.Name = f.name
	}
	if o.has("arrivals") {
		s.Arrivals = f.arrivals(o.fields["arrivals"])
	}
	if o.has("protocols") {
		s.Protocols = f.protocols(o.fields["protocols"])
	}
	if o.has("connections") {
		var err error
		if s.Connections, err = load.ParseConnections(o.text("connections")); err != nil {
			f.fail(o.fields["connections"], "connections: %v", err)
		}
	}
	if o.has("limits") {
		l := f.object(o.fields["limits"], "limits", "in_flight", "timeout")
		if l.has("in_flight") {
			s.Limits.InFlight = l.integer("in_flight", 1, math.MaxInt32)
		}
		s.Limits.Timeout = l.duration("timeout")
		if l.has("timeout") && s.Limits.Timeout == 0 {
			f.fail(l.fields["timeout"], "timeout: give more than 0s")
		}
	}
	s.Header = f.header(o)
	if o.has("descriptors") {
		if s.Descriptors = f.read(o, "descriptors"); f.err == nil && len(s.Descriptors) == 0 {
			f.fail(o.fields["descriptors"], "descriptors: the file is empty")
		}
	}
	if o.has("data") {
		d := f.object(o.fields["data"], "data")
		for _, name := range d.order {
			s.Data = append(s.Data, f.data(name, d.fields[name]))
		}
	}
	for i, n := range o.list("session") {
		s.Session = append(s.Session, f.step(n, "session["+strconv.Itoa(i)+"]"))
	}
	if !o.has("session") {
		f.fail(n, "it has no session: say what one does, as in session: [{name: hello, get: /}]")
	}
	for i, n := range o.list("thresholds") {
		f.places["thresholds["+strconv.Itoa(i)+"]"] = n.GetToken()
		t, err := load.ParseThreshold(n.GetToken().Value)
		if err != nil {
			f.fail(n, "%v", err)
		}
		s.Thresholds = append(s.Thresholds, t)
	}
	if o.has("abort") {
		var err error
		if s.Abort, err = load.ParseAbort(o.text("abort")); err != nil {
			f.fail(o.fields["abort"], "abort: %v", err)
		}
	}
}

func (f *File) arrivals(n ast.Node) load.Arrivals {
	o := f.object(n, "arrivals", "rate", "process", "warmup", "duration", "stages", "seed", "users")
	a := load.Arrivals{
		Process: load.Process(o.text("process")), Warmup: o.duration("warmup"), Duration: o.duration("duration"),
		Seed: uint64(o.integer("seed", 0, 1<<53)), Users: o.integer("users", 0, math.MaxInt32),
	}
	if o.has("rate") {
		a.Rate = f.rate(o)
	}
	for i, n := range o.list("stages") {
		where := "arrivals.stages[" + strconv.Itoa(i) + "]"
		f.places[where] = n.GetToken()
		a.Stages = append(a.Stages, f.stage(n, where, a.Stages))
	}
	if o.has("stages") && len(a.Stages) == 0 {
		f.fail(o.fields["stages"], "stages: give one at least, as in [{for: 30s, rate: 200/s}]")
	}
	return a
}

func (f *File) rate(o *object) float64 {
	rate, err := amount.ParseRate(o.text("rate"))
	if err != nil {
		f.fail(o.fields["rate"], "rate: %s: give sessions a second, such as 200/s", what(o.fields["rate"]))
	}
	return float64(rate)
}

// stage reads a stage that follows others.
func (f *File) stage(n ast.Node, where string, before []load.Stage) load.Stage {
	o := f.object(n, where, "name", "for", "at", "rate", "back")
	s := load.Stage{Name: o.text("name"), For: o.duration("for"), Back: o.boolean("back")}
	switch {
	case !o.has("rate"):
		f.fail(n, "the stage has no rate: give one, as in {for: 30s, rate: 200/s}")
	case o.has("for") == o.has("at"):
		f.fail(n, "give for (how long the stage takes, 0s for a step) or at (when it ends), as in {for: 30s, rate: 200/s}")
	default:
		s.Rate = f.rate(o)
	}
	if o.has("at") {
		var err error
		if s.For, err = load.Until(before, o.duration("at")); err != nil {
			f.fail(o.fields["at"], "at: %s %v", what(o.fields["at"]), err)
		}
	}
	return s
}

func (f *File) protocols(n ast.Node) []load.Share {
	o := f.object(n, "protocols")
	var shares []load.Share
	for _, name := range o.order {
		shares = append(shares, load.Share{Protocol: load.Protocol(name), Weight: o.number(name)})
	}
	return shares
}

// header reads the header of the scenario or of a step.
func (f *File) header(o *object) http.Header {
	if !o.has("header") {
		return nil
	}
	given := f.object(o.fields["header"], o.path("header"))
	h := http.Header{}
	for _, name := range given.order {
		canonical := http.CanonicalHeaderKey(name)
		if _, twice := h[canonical]; twice {
			f.fail(given.fields[name], "%q is there twice: give it once", canonical)
		}
		h[canonical] = nil
		if _, none := given.fields[name].(*ast.NullNode); !none { // null leaves out what all have
			h[canonical] = []string{given.text(name)}
		}
		f.places[given.path(canonical)] = f.places[given.path(name)]
	}
	return h
}

// data reads what a name is drawn from.
func (f *File) data(name string, n ast.Node) load.Data {
	o := f.object(n, "data."+name, "integers", "lines", "csv", "share", "times")
	sources := len(o.fields)
	if o.has("times") {
		sources--
	}
	if sources != 1 {
		f.fail(n, "%s: give one of integers: [LOW, HIGH], lines: FILE, csv: FILE and share: PERCENT", name)
		return load.Data{}
	}
	if o.has("share") {
		share := o.number("share")
		if share < 0 || share > 100 || o.has("times") {
			f.fail(o.fields["share"], "share: give 0 to 100, the percentage of the sessions that have %s, and no times", name)
		}
		return load.Sometimes(name, share/100)
	}
	d := f.source(name, o)
	if o.has("times") {
		return load.ListOf(o.integer("times", 1, 1000), d)
	}
	return d
}

// source reads where a single value comes from.
func (f *File) source(name string, o *object) load.Data {
	switch {
	case o.has("integers"):
		bounds := o.list("integers")
		var low, high float64
		ok := len(bounds) == 2
		if ok {
			var is, are bool
			low, is = number(bounds[0])
			high, are = number(bounds[1])
			ok = is && are && low <= high && high-low < 1<<53
		}
		if !ok {
			f.fail(o.fields["integers"], "integers: give [LOW, HIGH], such as [1, 20000]")
			return load.Data{}
		}
		return load.Integers(name, int(low), int(high))
	case o.has("lines"):
		var lines []any
		for line := range strings.Lines(string(f.read(o, "lines"))) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				lines = append(lines, line)
			}
		}
		return f.oneOf(o, "lines", name, lines)
	}
	return f.oneOf(o, "csv", name, f.rows(o))
}

func (f *File) oneOf(o *object, key, name string, from []any) load.Data {
	if len(from) == 0 {
		f.fail(o.fields[key], "%s: the file has nothing to draw from", key)
		return load.Data{}
	}
	return load.OneOf(name, from...)
}

// rows returns the rows of a CSV file as objects: its first row names the columns.
func (f *File) rows(o *object) []any {
	all, err := csv.NewReader(strings.NewReader(string(f.read(o, "csv")))).ReadAll()
	if err != nil {
		f.fail(o.fields["csv"], "csv: %v", err)
	}
	var rows []any
	for i, row := range all {
		if i == 0 {
			continue
		}
		columns := map[string]any{}
		for k, cell := range row {
			columns[all[0][k]] = cell
		}
		rows = append(rows, columns)
	}
	return rows
}

// read returns a file that the scenario names, relative to the scenario's own directory.
func (f *File) read(o *object, key string) []byte {
	name := o.text(key)
	if f.closed {
		data, ok := f.Files[name]
		if !ok {
			f.fail(o.fields[key], "%s: %s did not come with the scenario", key, name)
		}
		return data
	}
	data, err := f.readBelow(name)
	if err != nil {
		f.fail(o.fields[key], "%s: %v", key, err)
	}
	f.Files[name] = data
	return data
}
