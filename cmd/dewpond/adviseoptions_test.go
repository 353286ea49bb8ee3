package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/made"
)

// The options that are printed for each kind of line compile as they are, and a pool is made of them.
func TestAdvisedOptions(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	const dir = "testdata/advise/kinds"
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	lineOf := func(part string) int {
		before, _, ok := strings.Cut(string(text), part)
		if !ok {
			t.Fatalf("no %q in the source", part)
		}
		return 1 + strings.Count(before, "\n")
	}
	kinds := []struct {
		function, line, callee string
		size                   int64
	}{
		{"bytesOf", "make([]byte, n)", "", 2048}, {"large", "func large(n int) []byte {\n\treturn", "", 3 << 20},
		{"pieces", "all[i] = make", "", 128}, {"numbers", "make([]int64", "", 2048}, {"object", "&order{}", "", 512}, {"record", "&ledger{}", "", 8192},
		{"buffered", "bufio.NewWriter(w)", "bufio.NewWriterSize", 4096}, {"scanned", "bufio.NewReader(r)", "bufio.NewReaderSize", 4096},
		{"packed", "gzip.NewWriter(w)", "compress/gzip.NewWriterLevel", 1152}, {"deflated", "flate.NewWriter(w", "compress/flate.NewWriter", 655360},
		{"zipped", "zlib.NewWriter(w)", "compress/zlib.NewWriterLevelDict", 1152}, {"unpacked", "gzip.NewReader(r)", "compress/gzip.NewReader", 1152},
		{"aligned", "tabwriter.NewWriter(w", "text/tabwriter.NewWriter", 320}, {"stringed", "strings.NewReader(s)", "strings.NewReader", 64},
		{"read", "bytes.NewReader(b)", "bytes.NewReader", 64}, {"(*order).grown", "append(b, 1)", "", 2048},
	}
	h := made.Heap{At: time.Unix(1, 0), Duration: 10 * time.Second}
	for _, k := range kinds {
		line := lineOf(k.line)
		if k.function == "large" {
			line++
		}
		stack := []made.Call{{Function: "main." + k.function, File: "/build/kinds/main.go", Line: line}, {Function: "net/http.serve", File: "/x.go", Line: 1}}
		if k.callee != "" {
			stack = append([]made.Call{{Function: k.callee, File: "/x.go", Line: 1}}, stack...)
		}
		h.Samples = append(h.Samples, made.Sample{Stack: stack, Size: k.size, Objects: 1e9 / k.size})
	}
	file := filepath.Join(t.TempDir(), "heap.pb.gz")
	document := filepath.Join(t.TempDir(), "advice.json")
	if err := os.WriteFile(file, made.Packed(h.Profile()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, err := advise(t, "--src", dir, "--min-gain", "0", "--json", document, file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var d advice.Document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	var source, types, options strings.Builder
	for _, s := range d.Sites {
		if s.Options == "" {
			t.Errorf("%s is %s: %s", s.Function, s.Advice, s.Why)
		}
		if s.Declare != "" {
			types.WriteString(s.Declare + "\n\n")
		}
		pool, _, _ := strings.Cut(strings.TrimPrefix(s.Options, "dewpond."), "Options")
		fmt.Fprintf(&options, "\tdewpond.Must%s(%s)\n", pool, s.Options)
	}
	source.WriteString("package main\n\nimport (\n\t\"github.com/dewpond/dewpond\"\n")
	for _, pkg := range []string{"bufio", "bytes", "compress/flate", "compress/gzip", "compress/zlib", "io", "strings", "text/tabwriter", "time"} {
		if strings.Contains(types.String()+options.String(), pkg[strings.LastIndexByte(pkg, '/')+1:]+".") {
			fmt.Fprintf(&source, "\t%q\n", pkg)
		}
	}
	source.WriteString(")\n\ntype order struct{ id int }\n\ntype ledger struct{ lines [1024]int }\n\n" + types.String() + "func main() {\n" + options.String() + "}\n")
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "run", program).CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, out, source.String())
	}
	if n := len(d.Together.Sites); n != len(kinds) {
		t.Errorf("%d of %d lines are advised", n, len(kinds))
	}
}
