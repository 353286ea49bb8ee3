// Package evidence says what a line that allocates makes, and so which tool of dewpond could replace
// it. A profile has the functions that the line calls. What the line does itself is read from
// the source.
package evidence

import (
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// A Tool is what replaces an allocation.
type Tool string

// The tools.
const (
	BytePool  Tool = "BytePool"
	Buffer    Tool = "Buffer"
	SlicePool Tool = "SlicePool"
	Pool      Tool = "Pool"
	Scope     Tool = "Scope"
	None      Tool = "none"
	Unknown   Tool = "unknown"
)

// A Finding is what a line makes.
type Finding struct {
	Tool Tool
	Why  string // what the line does, or why no tool fits
	Use  string // how the tool is used there

	Type    string // of the elements or objects, as the source has it
	Declare string // the declaration of Type, if the source has none
	Reset   string // of a Pool: the function that makes an object as new; empty: the default
	New     string // of a Pool: the function that makes one; empty: the default
	Inside  bool   // a loop, by which one call makes several
	Pieces  int    // how many, if the source says so
}

// A callee is a function of others that a site calls, which tells what is allocated.
type callee struct {
	prefix string
	Finding
}

// callees are in the order in which they are looked for. A site's own call is looked up before what
// that calls in its turn.
var callees = []callee{
	{"github.com/dewpond/dewpond.", Finding{Tool: None, Why: "a pool of dewpond has made it, because nothing was idle: see the pool's misses"}},
	{"sync.(*Pool).", Finding{Tool: None, Why: "a sync.Pool has it already"}},

	{"database/sql.Open", handle("a connection pool of its own")},
	{"net.Dial", handle("a connection")}, {"net.(*Dialer).Dial", handle("a connection")}, {"net.Listen", handle("a listener")},
	{"crypto/tls.Dial", handle("a connection")}, {"crypto/tls.(*Dialer).Dial", handle("a connection")},
	{"os.Open", handle("a file")}, {"os.Create", handle("a file")},
	{"os/exec.Command", handle("a process")},
	{"github.com/jackc/pgx/", handle("a connection to a database")}, {"github.com/redis/go-redis/", handle("a connection to a database")},

	{"bytes.(*Buffer).String", text("the string of a bytes.Buffer")},
	{"bytes.(*Buffer).", Finding{Tool: Buffer, Why: "a bytes.Buffer grows", Use: "buffer := pool.Buffer(), and buffer.Release() when its bytes are no longer used"}},
	{"bytes.growSlice", Finding{Tool: Buffer, Why: "a bytes.Buffer grows", Use: "buffer := pool.Buffer(), and buffer.Release() when its bytes are no longer used"}},
	{"bytes.NewReader", reset("bytes.Reader", "func(r *bytes.Reader) { r.Reset(nil) }", "")},
	{"io.ReadAll", Finding{Tool: Buffer, Why: "io.ReadAll grows a slice", Use: "pool.ReadAll(r), or a Buffer's ReadFrom; pool.Put when its bytes are no longer used"}},
	{"os.ReadFile", Finding{Tool: Buffer, Why: "os.ReadFile makes a slice of a file's size", Use: "pool.ReadAll of the opened file; pool.Put when its bytes are no longer used"}},
	{"slices.Grow", grows("slices.Grow", "")}, // a profile has the name without the types

	{"bufio.NewReader", reset("bufio.Reader", "func(r *bufio.Reader) { r.Reset(nil) }", "func() *bufio.Reader { return bufio.NewReader(nil) }")},
	{"bufio.NewWriter", reset("bufio.Writer", "func(w *bufio.Writer) { w.Reset(nil) }", "func() *bufio.Writer { return bufio.NewWriter(nil) }")},
	{"compress/gzip.NewWriter", compressor("gzip")}, {"compress/gzip.(*Writer)", compressor("gzip")},
	{"compress/gzip.", directed("gzip.Reader", "from", "v.Reader = new(gzip.Reader)", "whose Reset reads the header of its source", "Reset(&v.from)")},
	{"compress/zlib.NewWriter", compressor("zlib")}, {"compress/zlib.(*Writer)", compressor("zlib")},
	{"compress/flate.NewWriter", compressor("flate")},
	{"strings.NewReader", reset("strings.Reader", `func(r *strings.Reader) { r.Reset("") }`, "")},
	{"text/tabwriter.NewWriter", directed("tabwriter.Writer", "to", "v.Writer = new(tabwriter.Writer)", "whose Init makes it as new", "Init(&v.to, ...)")},

	{"strings.", text("package strings makes it")}, {"strconv.", text("package strconv makes it")},
	{"fmt.Sprint", text("fmt.Sprint makes it")}, {"fmt.Errorf", text("an error's")}, {"errors.New", text("an error's")},
	{"maps.", aMap()},
}

func handle(of string) Finding {
	return Finding{Tool: None, Why: "a handle: " + of + " stands for what is outside the memory, and has an owner; keep it open in a pool of its own kind"}
}

func text(whose string) Finding {
	return Finding{Tool: None, Why: "a string: " + whose + ", and a string must never change, so its bytes cannot be used again"}
}

func aMap() Finding {
	return Finding{Tool: None, Why: "a map: its memory is the runtime's; clear a map of your own and use it again"}
}

// grows is what append and slices.Grow make of a slice with such elements. Of no type it is not known.
func grows(by, element string) Finding {
	f := Finding{Tool: SlicePool, Why: by + " grows a slice of " + element, Use: "pool.Append or pool.Grow, which put the old block back; pool.Put at the end", Type: element}
	switch element {
	case "":
		return Finding{Tool: Unknown, Why: by + " grows a slice whose element type is not plain from this line: if it is byte, a BytePool's Append or Grow; else those of a SlicePool"}
	case "byte", "uint8":
		f.Tool, f.Why = Buffer, by+" grows a slice of bytes"
	}
	return f
}

func reset(typ, reset, makes string) Finding {
	return Finding{Tool: Pool, Why: "a " + typ + ", which has a Reset", Type: typ, Reset: reset, New: makes, Use: "Reset it after Get with what it works on; New with the size or level that you have there"}
}

// directed is a Pool of objects that work on a source or a destination, whose Reset costs much or needs the
// next one: the caller resets after Get. The source or destination is a field, which the pool clears before Put.
func directed(of, field, makes, why, call string) Finding {
	pkg, name, _ := strings.Cut(of, ".")
	typ := pkg + name
	return Finding{
		Tool: Pool, Why: "a " + of + ", " + why, Type: typ,
		Declare: "type " + typ + " struct { *" + of + "; " + field + " struct{ io." + name + " } }",
		New:     "func() *" + typ + " { v := new(" + typ + "); " + makes + "; return v }",
		Reset:   "func(v *" + typ + ") { v." + field + "." + name + " = nil }",
		Use:     "after Get set v." + field + "." + name + " and call v." + call + "; before Put the pool drops what it works on",
	}
}

// compressor is a writer that compresses. If its Reset ran before Put, what that clears would be cold again
// by the next Get.
func compressor(pkg string) Finding {
	makes := "v.Writer = " + pkg + ".NewWriter(nil)"
	if pkg == "flate" {
		makes = "v.Writer, _ = flate.NewWriter(nil, flate.DefaultCompression)"
	}
	f := directed(pkg+".Writer", "to", makes, "whose Reset clears 800 KB", "Reset(&v.to)")
	f.Use += "; New with the level that you have there, and MaxIdle as many as compress at once"
	return f
}

// parts tells what the functions of packages strings and bytes make that return a slice of the parts of
// a text. It has whole names, because a Seq of the same name makes no slice.
func parts(function string) (f Finding, ok bool) {
	pkg, name, _ := strings.Cut(function, ".")
	if pkg != "strings" && pkg != "bytes" {
		return Finding{}, false
	}
	why := function + " makes the slice of the parts by itself"
	switch name {
	case "Fields", "FieldsFunc", "Split", "SplitAfter":
		return Finding{Tool: None, Why: why + "; " + function + "Seq makes none"}, true
	case "SplitN", "SplitAfterN":
		return Finding{Tool: None, Why: why}, true
	}
	return Finding{}, false
}

// OfCallees tells what a site makes by the functions of others that it calls. calls are those between
// the site and the allocation, the innermost first. ok is false if they say nothing.
func OfCallees(calls []sites.Frame) (f Finding, ok bool) {
	for i := len(calls) - 1; i >= 0; i-- { // the site's own call first
		if f, ok := parts(calls[i].Function); ok {
			return f, true
		}
		for _, c := range callees {
			if strings.HasPrefix(calls[i].Function, c.prefix) {
				return c.Finding, true
			}
		}
	}
	return Finding{}, false
}

// OfCallers tells whether a pool has called the site, which is then the function that makes what the
// pool lacks.
func OfCallers(callers []sites.Frame) (f Finding, ok bool) {
	if len(callers) == 0 {
		return Finding{}, false
	}
	switch name := callers[0].Function; {
	case strings.HasPrefix(name, "sync.(*Pool)."):
		return Finding{Tool: None, Why: "a sync.Pool calls it when it has nothing: it is pooled already, and each second collection empties a sync.Pool"}, true
	case strings.HasPrefix(name, "github.com/dewpond/dewpond."):
		return Finding{Tool: None, Why: "a pool of dewpond calls it when nothing is idle: see the pool's misses"}, true
	}
	return Finding{}, false
}

// OnMain reports whether all ways to a site begin in the function main, and so on one goroutine.
func OnMain(stacks []*sites.Stack) bool {
	for _, s := range stacks {
		if n := len(s.Callers); n < 2 || s.Callers[n-1].Function != "runtime.main" {
			return false
		}
	}
	return len(stacks) > 0
}
