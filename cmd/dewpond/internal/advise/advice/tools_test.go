package advice

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/made"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// A situation is a site of a program of which everything is known.
type situation struct {
	line    string      // of the source, in a function of its own
	around  string      // what is around the line, with LINE in its place
	callees []made.Call // between the line and the allocation
	callers []made.Call
	file    string // of the site, if it is not the source

	size          int64
	objects       int64 // in ten seconds; 640,000 by default
	live, liveNow int64 // objects at the beginning and at the end
	quiet         bool
	limit, idle   float64
	beside        []made.Sample // other sites
}

const (
	functionFile = "/elsewhere/shop/order.go" // where the program was built
	functionName = "example.com/shop.order"
)

func call(function string) []made.Call {
	return []made.Call{{Function: function, File: "/x.go", Line: 1}}
}

// facts makes the source and the profiles.
func (s situation) facts(t *testing.T) (Facts, Settings) {
	t.Helper()
	around := s.around
	if around == "" {
		around = "package shop\n\nfunc order(n int, s string, b []byte) {\n\tLINE\n}\n"
	}
	text := strings.Replace(around, "LINE", s.line, 1)
	line := 1 + strings.Count(text[:strings.Index(text, s.line)], "\n")
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/shop\n", "order.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source, err := evidence.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := functionFile
	if s.file != "" {
		file = s.file
	}
	callers := s.callers
	if callers == nil {
		callers = []made.Call{{Function: "example.com/shop.handle", File: functionFile, Line: 100}, {Function: "net/http.serve", File: "/x.go", Line: 1}}
	}
	stack := append(append(s.callees[:len(s.callees):len(s.callees)], made.Call{Function: functionName, File: file, Line: line}), callers...)
	if s.size == 0 {
		s.size = 1024
	}
	if s.objects == 0 {
		s.objects = 640_000
	}
	begin := time.Unix(1000, 0)
	of := func(objects, live int64, at time.Time) *sites.Reading {
		r := new(sites.Reading)
		h := made.Heap{At: at, Samples: []made.Sample{{Stack: stack, Size: s.size, Objects: objects, Live: live}}}
		if at != begin {
			h.Samples = append(h.Samples, s.beside...)
		}
		if err := r.Add(h.Profile(), sites.Program{Modules: source.Modules()}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	w, err := sites.Between([]*sites.Reading{of(0, s.live, begin), of(s.objects, s.liveNow, begin.Add(10*time.Second))}, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{
		Window: w, Known: true, Quiet: s.quiet, Source: source.Of,
		Heap: model.Heap{Seconds: 10, Allocated: w.Allocated, Collections: 100, Goal: 100e6, GOGC: 100, Limit: s.limit},
		CPU:  CPU{Collector: estimate.Exact(0.2), Allocation: estimate.Exact(0.1), From: "a test"},
	}
	idle := -1.0
	if s.idle > 0 {
		idle = s.idle
	}
	return f, Settings{MinGain: 0.05, Idle: idle}
}

// advised returns the advice for the situation's site.
func (s situation) advised(t *testing.T) Site {
	t.Helper()
	f, settings := s.facts(t)
	for _, site := range Make(f, settings).Sites {
		if site.Function == functionName {
			return site
		}
	}
	t.Fatal("the site is not there")
	return Site{}
}

const loop = "package shop\n\nconst pieces = 12\n\nfunc order(n int, s string, b []byte) {\n\tfor range pieces {\n\t\tLINE\n\t}\n}\n"

const literal = "b = make([]byte, n)"

// rows are the lines of the table in docs/advise.md, each with a situation that it is about.
var rows = []struct {
	made, advice string // as the table has them
	situation
	why, options string // what the site must say
}{
	{"`make([]byte, n)` of 64 B or more", "BytePool", situation{line: literal}, "make([]byte, n): pool.Get(n)", `dewpond.BytePoolOptions{Name: "order"}`},
	{"growth of a `bytes.Buffer`", "Buffer", situation{line: "w.Write(b)", callees: []made.Call{{Function: "bytes.growSlice"}, {Function: "bytes.(*Buffer).Write"}}}, "buffer.Release()", "BytePoolOptions"},
	{"`io.ReadAll`, `os.ReadFile`", "Buffer", situation{line: "io.ReadAll(r)", callees: call("io.ReadAll")}, "pool.ReadAll(r)", "BytePoolOptions"},
	{"growth of a slice of bytes by `append`, `[]byte(s)`", "Buffer", situation{line: "b = append(b, s...)"}, "append grows a slice of bytes: pool.Append or pool.Grow", "BytePoolOptions"},
	{"a slice of another type", "SlicePool", situation{line: "rows := make([]int64, n)"}, "a slice of int64", `dewpond.SlicePoolOptions[int64]{Name: "order"}`},
	{"growth of a slice of another type by `append`", "SlicePool", situation{line: "rows = append(rows, int64(n))", around: "package shop\n\nfunc order(n int) {\n\tvar rows []int64\n\tLINE\n}\n"}, "append grows a slice of int64: pool.Append or pool.Grow", `dewpond.SlicePoolOptions[int64]{Name: "order"}`},
	{"a struct: `new(T)`, `&T{}`, a variable whose address is taken", "Pool", situation{line: "o := &Order{}"}, "a Order: pool.Get()", `dewpond.PoolOptions[Order]{Name: "order"}`},
	{"a writer or reader of the standard library with Reset", "Pool", situation{line: "w := bufio.NewWriter(x)", callees: call("bufio.NewWriterSize")}, "which has a Reset", "Reset: func(w *bufio.Writer) { w.Reset(nil) }"},
	{"eight or more pieces of 1 KiB or less, of one caller, that die together", "Scope", situation{line: literal, around: loop, size: 128, objects: 6_400_000}, "scope.Close()", `dewpond.BytePoolOptions{Name: "order"}`},
	{"blocks of 64 KiB or more, with idle times between bursts", "BytePool", situation{line: literal, size: 128 << 10, objects: 10_000, quiet: true}, "package offheap", "IdleTimeout: 2 * time.Minute"},
	{"what lives long, at a steady number: a cache, a window of messages", "BytePool", situation{line: literal, live: 200_000, liveNow: 200_000}, "put it back where it is replaced", "BytePoolOptions"},

	{"a string, and what is turned into one", "none", situation{line: "s = string(b)"}, "a string", ""},
	{"the slice that `strings.Fields`, `bytes.Split` and the like return", "none", situation{line: "parts := strings.Fields(s)", callees: call("strings.Fields")}, "strings.Fields makes the slice of the parts by itself; strings.FieldsSeq makes none", ""},
	{"a map", "none", situation{line: "m := make(map[string]int)"}, "a map", ""},
	{"a closure", "none", situation{line: "f := func() int { return n }"}, "a closure", ""},
	{"a goroutine's stack", "none", situation{line: "go serve(n)"}, "a goroutine", ""},
	{"a box of an interface", "none", situation{line: "log.Print(n)"}, "a box of an interface", ""},
	{"a channel", "none", situation{line: "c := make(chan int, n)"}, "a channel", ""},
	{"blocks below 64 B", "none", situation{line: literal, size: 48, objects: 6_400_000}, "below 64 B", ""},
	{"what is kept: its live bytes grow", "none", situation{line: literal, live: 10_000, liveNow: 600_000}, "kept: ", ""},
	{"a handle: what `sql.Open`, `net.Dial`, `os.Open` and the like return", "none", situation{line: "db, err := sql.Open(n, s)", callees: call("database/sql.OpenDB")}, "a handle", ""},
	{"one size, short lived, on one goroutine", "none", situation{line: literal, callers: []made.Call{{Function: "main.main"}, {Function: "runtime.main"}}}, "a sync.Pool of pointers does as well", ""},
	{"what saves less than `--min-gain`", "none", situation{line: literal, objects: 64_000, beside: []made.Sample{{Stack: call("net/http.serve"), Size: 1024, Objects: 6_400_000}}}, "0.99 % of the bytes", ""},
	{"what is pooled already", "none", situation{line: literal, callers: call("sync.(*Pool).Get")}, "it is pooled already", ""},
	{"a pool whose idle bytes take more of a memory limit's room than it saves", "none", situation{line: literal, limit: 120e6, idle: 60e6, beside: []made.Sample{{Stack: call("net/http.serve"), Size: 1024, Objects: 640_000}}}, "do not pool this, or bound it with MaxIdleBytes below", ""},

	{"a line whose source is not there, or is another", "unknown", situation{line: literal, file: "/elsewhere/shop/missing.go"}, "give --src DIR", ""},
	{"growth by `append` of a slice whose type is not plain from the function and the file", "unknown", situation{line: "list = append(list, n)"}, "append grows a slice whose element type is not plain", ""},
	{"`slices.Grow`", "unknown", situation{line: "list = slices.Grow(list, n)", callees: call("slices.Grow[...]")}, "slices.Grow grows a slice whose element type is not plain", ""},
	{"several of these on one line", "unknown", situation{line: "b, o := make([]byte, n), new(Order)"}, "more than one thing", ""},
	{"what another package allocates when it is called", "unknown", situation{line: "parse(b)", callees: call("example.com/parser.Parse")}, "it is example.com/parser.Parse, called here, that allocates", ""},
}

// Each line of the table holds.
func TestTools(t *testing.T) {
	for _, row := range rows {
		t.Run(row.made, func(t *testing.T) {
			s := row.advised(t)
			if s.Advice != row.advice || !strings.Contains(s.Why, row.why) || !strings.Contains(s.Options, row.options) || row.options == "" && s.Options != "" {
				t.Errorf("%s, because %q, with %q; want %s, because %q, with %q", s.Advice, s.Why, s.Options, row.advice, row.why, row.options)
			}
		})
	}
}

// What append grows is said to be of a type only where the source has that.
func TestAppend(t *testing.T) {
	for _, of := range []struct {
		before, line string
		tool, says   string
	}{
		{"var x []byte", "x = append(x, 'a')", "Buffer", "of bytes"},
		{"x := make([]uint8, 0, n)", "x = append(x, b...)", "Buffer", "of bytes"},
		{"x := b[:0]", `x = append(x, "text"...)`, "Buffer", "of bytes"},
		{"x := f()", "x = append(x, s...)", "Buffer", "of bytes"}, // s is a string
		{"x := f()", "x = append(x, b...)", "Buffer", "of bytes"},
		{"", "x := append([]byte(nil), f()...)", "Buffer", "of bytes"},
		{"var buffer [64]byte", "x := append(buffer[:0], f()...)", "Buffer", "of bytes"},
		{"", "c.out.text = append(c.out.text, 'a')", "Buffer", "of bytes"},

		{"x := []string{}", "x = append(x, s)", "SlicePool", "of string"},
		{"x := make([][]byte, 0, n)", "x = append(x, b)", "SlicePool", "of []byte"},
		{"", "result = append(result[:0], o)", "SlicePool", "of *Order"},
		{"", "more = append(more, n)", "SlicePool", "of int"},
		{"", "global = append(global, f())", "SlicePool", "of int64"},
		{"", "x := append([]int64{}, f()...)", "SlicePool", "of int64"},
		{"x := f()", "x = append(x, Item{N: n})", "SlicePool", "of Item, or of an interface that has it"},
		{"", "c.out.nb = append(c.out.nb, b)", "SlicePool", "of []byte"},

		{"x := f()", "x = append(x, 'a')", "unknown", "not plain"},
		{"x := f()", "x = append(x, f()...)", "unknown", "not plain"},
		{"", "elsewhere = append(elsewhere, n)", "unknown", "not plain"},
		{"", "c.other.list = append(c.other.list, n)", "unknown", "not plain"},
		{"for _, b := range f() { use(b) }", "b = append(b, 'a')", "unknown", "not plain"},        // two of one name
		{"{ x := []int{}; use(x) }; x := []byte{}", "x = append(x, 'a')", "unknown", "not plain"}, // and of different types
	} {
		around := "package shop\n\nvar global []int64\n\ntype conn struct {\n\tout output\n\tother elsewhere.Type\n}\n\ntype output struct {\n\tnb [][]byte\n\ttext []byte\n}\n\n" +
			"func (c *conn) order(n int, s string, b []byte, o *Order, more ...int) (result []*Order) {\n\t" + of.before + "\n\tLINE\n}\n"
		s := situation{line: of.line, around: around}.advised(t)
		if s.Advice != of.tool || !strings.Contains(s.Why, of.says) {
			t.Errorf("%s; %s: %s, because %q; want %s, because %q", of.before, of.line, s.Advice, s.Why, of.tool, of.says)
		}
	}
}

// What lives from one collection to the next is kept and replaced, and what is garbage by then is not. The
// collections are a tenth of a second apart.
func TestLasting(t *testing.T) {
	const says = "put it back where it is replaced"
	for _, of := range []struct {
		live  int64
		says  string
		never string
	}{
		{6_400, "it lives for 100 ms on average, so " + says + ", or where the request ends", ""},
		{200_000, says, "where the request ends"},
		{1_600, "make([]byte, n): pool.Get(n)", says},
	} {
		s := situation{line: literal, live: of.live, liveNow: of.live}.advised(t)
		if !strings.Contains(s.Why, of.says) || of.never != "" && strings.Contains(s.Why, of.never) {
			t.Errorf("%d alive: %q, want %q and not %q", of.live, s.Why, of.says, of.never)
		}
	}
}

// A Pool clears objects of up to 4 KiB by itself, and of larger ones it is not made without a Reset.
func TestLargeObjects(t *testing.T) {
	for size, want := range map[int64]string{
		4096: `dewpond.PoolOptions[Order]{Name: "order"}`,
		8192: `dewpond.PoolOptions[Order]{Name: "order", Reset: func(v *Order) { *v = Order{} }}`,
	} {
		if s := (situation{line: "o := &Order{}", size: size, objects: 80_000}).advised(t); s.Options != want {
			t.Errorf("of %d B: %s, want %s", size, s.Options, want)
		}
	}
}

// What is costly to reset is reset after Get, and a pool only drops what it works on.
func TestResetAfterGet(t *testing.T) {
	for function, of := range map[string]struct{ declare, reset, use string }{
		"compress/gzip.NewWriterLevel":     {"type gzipWriter struct { *gzip.Writer; to struct{ io.Writer } }", "func(v *gzipWriter) { v.to.Writer = nil }", "after Get set v.to.Writer and call v.Reset(&v.to)"},
		"compress/zlib.NewWriterLevelDict": {"type zlibWriter struct { *zlib.Writer; to struct{ io.Writer } }", "func(v *zlibWriter) { v.to.Writer = nil }", "after Get set v.to.Writer and call v.Reset(&v.to)"},
		"compress/flate.NewWriter":         {"type flateWriter struct { *flate.Writer; to struct{ io.Writer } }", "func(v *flateWriter) { v.to.Writer = nil }", "after Get set v.to.Writer and call v.Reset(&v.to)"},
		"compress/gzip.NewReader":          {"type gzipReader struct { *gzip.Reader; from struct{ io.Reader } }", "func(v *gzipReader) { v.from.Reader = nil }", "after Get set v.from.Reader and call v.Reset(&v.from)"},
		"text/tabwriter.NewWriter":         {"type tabwriterWriter struct { *tabwriter.Writer; to struct{ io.Writer } }", "func(v *tabwriterWriter) { v.to.Writer = nil }", "after Get set v.to.Writer and call v.Init(&v.to, ...)"},
	} {
		s := situation{line: "w := of(x)", callees: call(function)}.advised(t)
		if s.Advice != "Pool" || s.Declare != of.declare || !strings.Contains(s.Options, "Reset: "+of.reset+"}") || !strings.Contains(s.Why, of.use) {
			t.Errorf("%s: %s, because %q, with\n%s\n%s", function, s.Advice, s.Why, s.Declare, s.Options)
		}
	}
}

// The table in the document has these lines, and no others.
func TestDocumentedTools(t *testing.T) {
	text, err := os.ReadFile("../../../../../docs/advise.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Which tool\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") && !strings.HasPrefix(line, "| the line makes") {
			documented = append(documented, strings.TrimSpace(line))
		}
	}
	var held []string
	for _, row := range rows {
		held = append(held, "| "+row.made+" | "+row.advice+" |")
	}
	if !slices.Equal(documented, held) {
		t.Errorf("docs/advise.md has\n%s\nand the tests\n%s", strings.Join(documented, "\n"), strings.Join(held, "\n"))
	}
}

// Callees that are looked up as the table's lines say.
func TestCallees(t *testing.T) {
	for function, want := range map[string]evidence.Tool{
		"database/sql.Open": evidence.None, "net.Dial": evidence.None, "net.(*Dialer).DialContext": evidence.None, "os.OpenFile": evidence.None, "crypto/tls.Dial": evidence.None,
		"compress/gzip.NewWriterLevel": evidence.Pool, "compress/flate.NewWriter": evidence.Pool, "compress/gzip.NewReader": evidence.Pool, "bufio.NewReaderSize": evidence.Pool,
		"strings.NewReader": evidence.Pool, "strings.(*Builder).grow": evidence.None, "strconv.Itoa": evidence.None, "fmt.Sprintf": evidence.None, "errors.New": evidence.None,
		"bytes.(*Buffer).String": evidence.None, "bytes.(*Buffer).ReadFrom": evidence.Buffer, "github.com/dewpond/dewpond.(*BytePool).Get": evidence.None,
	} {
		if f, ok := evidence.OfCallees([]sites.Frame{{Function: "internal/x.y"}, {Function: function}}); !ok || f.Tool != want {
			t.Errorf("%s: %v", function, f)
		}
	}
	if _, ok := evidence.OfCallees([]sites.Frame{{Function: "encoding/json.Marshal"}}); ok {
		t.Error("encoding/json is known")
	}
}

// What returns the parts of a text makes a slice, and some of it have a form that makes none.
func TestParts(t *testing.T) {
	for function, want := range map[string]string{
		"strings.FieldsFunc": "strings.FieldsFuncSeq makes none", "strings.Split": "strings.SplitSeq makes none", "strings.SplitAfter": "strings.SplitAfterSeq makes none",
		"bytes.Fields": "bytes.FieldsSeq makes none", "bytes.Split": "bytes.SplitSeq makes none",
		"strings.SplitN": "strings.SplitN makes the slice of the parts by itself", "bytes.SplitAfterN": "bytes.SplitAfterN makes the slice of the parts by itself",
	} {
		if f, ok := evidence.OfCallees([]sites.Frame{{Function: "strings.genSplit"}, {Function: function}}); !ok || f.Tool != evidence.None || !strings.HasSuffix(f.Why, want) {
			t.Errorf("%s: %v", function, f)
		}
	}
}

// What lives for a second on one goroutine is not short lived, however seldom the collector runs.
func TestOneGoroutine(t *testing.T) {
	for live, want := range map[int64]evidence.Tool{0: evidence.None, 80_000: evidence.BytePool} {
		f, settings := situation{line: literal, live: live, liveNow: live, callers: []made.Call{{Function: "main.main"}, {Function: "runtime.main"}}}.facts(t)
		f.Heap.Collections = 3
		if got := Make(f, settings).Sites[0]; got.Advice != string(want) {
			t.Errorf("%d alive: %s, %s; want %s", live, got.Advice, got.Why, want)
		}
	}
}
