package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/made"
)

func packedText(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

const gctraceText = "listening\ngc 1 @0.014s 2%: 0.026+0.38+0.017 ms clock, 0.10+0.20/0.29/0.15+0.071 ms cpu, 4->4->0 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 4 P\n"

// Each kind is told by what is in it, and of what is none the error says what it is and what to do.
func TestTell(t *testing.T) {
	var heap, goroutines bytes.Buffer
	if err := errors.Join(pprof.Lookup("heap").WriteTo(&heap, 1), pprof.Lookup("goroutine").WriteTo(&goroutines, 1)); err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if err := (made.Heap{At: time.Unix(1, 0)}).Profile().WriteUncompressed(&plain); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer // as the runtime writes it
	if err := pprof.Lookup("allocs").WriteTo(&written, 0); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		text string
		kind Kind
		says string
	}{
		"profile":          {string(made.Packed(made.Heap{At: time.Unix(1, 0)}.Profile())), Profile, ""},
		"the runtime's":    {written.String(), Profile, ""},
		"unpacked":         {plain.String(), Profile, ""},
		"heap?debug=1":     {heap.String(), MemStats, ""},
		"gctrace":          {gctraceText, GCTrace, ""},
		"trace":            {"go 1.26 trace\x00\x00\x00...", Trace, ""},
		"nothing":          {"", 0, "it is empty"},
		"HTML":             {" \n<!DOCTYPE html><title>x", 0, "a page of HTML and no profile: give the address of /debug/pprof itself"},
		"goroutines":       {goroutines.String(), 0, "the text of another profile: save /debug/pprof/heap"},
		"program":          {"\x7fELF\x02\x01", 0, "a program and no profile"},
		"JSON":             {`{"a": 1}`, 0, "JSON and no profile"},
		"prose":            {"once upon a time", 0, "no profile, no gctrace and no text of heap?debug=1: save"},
		"packed gctrace":   {packedText(gctraceText), 0, "packed, and no profile: unpack it with gunzip"},
		"packed prose":     {packedText("once upon a time"), 0, "no profile, no gctrace"},
		"a damaged header": {"\x1f\x8b\x07 xxxxxxxxxxxxxx", 0, "begins as what gzip has packed, and is not: save it again"},
	} {
		s, err := Bytes(name, []byte(of.text))
		switch {
		case of.says != "":
			if err == nil || !strings.Contains(err.Error(), of.says) || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("%s: %v, want %q", name, err, of.says)
			}
		case err != nil || s.Kind != of.kind:
			t.Errorf("%s: %+v, %v, want kind %d", name, s, err, of.kind)
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "heap.pb.gz")
	data := made.Packed(made.Heap{At: time.Unix(1, 0)}.Profile())
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := File(name)
	if err != nil || s.Kind != Profile || s.Size != int64(len(data)) {
		t.Fatalf("%+v, %v", s, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	counted := int64(0)
	open := s.Counted(ctx, func(n int64) { counted += n })
	for range 2 { // it can be read twice
		f, err := open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, data) || f.Close() != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if counted != 2*s.Size {
		t.Errorf("%d bytes counted of %d that were read twice", counted, s.Size)
	}
	ended := errors.New("ended")
	cancel(ended)
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Read(make([]byte, 1)); n != 0 || !errors.Is(err, ended) {
		t.Errorf("%d bytes are read once nobody wants them, %v", n, err)
	}
	for path, says := range map[string]string{
		dir:                         "is a directory: give the profiles in it",
		filepath.Join(dir, "other"): "there is no such file: give a profile, or a URL",
	} {
		if _, err := File(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", path, err, says)
		}
	}
}

func TestAt(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:6060":                          "http://localhost:6060/debug/pprof",
		"http://localhost:6060/":                         "http://localhost:6060/debug/pprof",
		"http://localhost:6060/debug/pprof":              "http://localhost:6060/debug/pprof",
		"http://localhost:6060/debug/pprof/":             "http://localhost:6060/debug/pprof",
		"http://localhost:6060/debug/pprof/heap?debug=1": "http://localhost:6060/debug/pprof",
		"https://u:p@host/admin/pprof/allocs":            "https://u:p@host/admin/pprof",
		"http://host/private":                            "http://host/private",
	} {
		if p, err := At(address); err != nil || p.URL != want {
			t.Errorf("%s: %+v, %v, want %s", address, p, err, want)
		}
	}
	for _, wrong := range []string{"ftp://host", "http://", "http://%zz"} {
		if p, err := At(wrong); err == nil || !strings.Contains(err.Error(), "is no address: give one such as") {
			t.Errorf("%s: %+v, %v", wrong, p, err)
		}
	}
	for address, says := range map[string]string{
		"HTTP://joe:hunter2@localhost:9x/":        "is no address: give one such as",
		"http://joe:hun ter2@h/":                  "is no address: give one such as",
		"http://joe:hun/ter2@h/":                  "is no address: give one such as",
		"http://joe:12/hunter2@h/":                "is no address: give one such as",
		"http://joe:hun?ter2@h x/":                "is no address: give one such as",
		"http://joe:12#hunter2@h/":                "is no address: give one such as",
		"http://h x/?token=hunter2":               "is no address: give one such as",
		"http://host/debug/pprof?token=hunter2":   "the URL has a query, which dewpond advise does not send",
		"http://host/debug/pprof?debug=1&hunter2": "the URL has a query, which dewpond advise does not send",
		"http://joe@host/debug/pprof?hunter2;":    "the URL has a query, which dewpond advise does not send",
	} {
		p, err := At(address)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v, want %q", address, p, err, says)
			continue
		}
		for _, secret := range []string{"hun", "ter2", "joe"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %q has %q", address, err, secret)
			}
		}
	}
	p, _ := At("https://TOKEN@host/debug/pprof")
	if p.Shown() != "https://xxxxx@host/debug/pprof" {
		t.Errorf("shown as %s", p.Shown())
	}
	p, _ = At("https://u:secret@host/debug/pprof")
	if strings.Contains(p.Shown(), "secret") || p.root() != "https://u:secret@host" {
		t.Errorf("shown as %s, its root is %s", p.Shown(), p.root())
	}
}

func TestGet(t *testing.T) {
	real := httptest.NewServer(http.DefaultServeMux)
	defer real.Close()
	p, err := At(real.URL)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := p.Get(t.Context(), "allocs", 0); err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		t.Errorf("%d bytes, %v", len(data), err)
	}

	if page, err := p.Page(t.Context(), "/debug/pprof/cmdline"); err != nil || !bytes.Contains(page, []byte("source.test")) {
		t.Errorf("another page is %q, %v", page, err)
	}

	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/html/allocs":
			fmt.Fprint(w, "<html><body>hello")
		case "/login/allocs":
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case "/busy/allocs":
			http.Error(w, "busy \x1b[2J now", http.StatusInternalServerError)
		default:
			http.NotFound(w, r)
		}
	}))
	defer strange.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for address, says := range map[string]string{
		strange.URL + "/nothing":          "the answer is 404: there is no net/http/pprof there. Import it",
		strange.URL + "/html":             "a page of HTML and no profile: give the address of net/http/pprof",
		strange.URL + "/login":            `the answer is "401 Unauthorized": give an address that may read it`,
		strange.URL + "/busy":             `the answer to allocs is "500 Internal Server Error": busy \x1b[2J now`,
		gone.URL + "/debug/pprof":         "connection refused",
		"http://u:secret@" + gone.URL[7:]: "http://xxxxx@",
		"http://secret@" + gone.URL[7:]:   "http://xxxxx@",
	} {
		p, err := At(address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Get(t.Context(), "allocs", 0)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", address, err, says)
		}
	}
}

func FuzzTell(f *testing.F) {
	f.Add([]byte("gc 1 @0.014s 2%"))
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0})
	f.Add(made.Packed(made.Heap{At: time.Unix(1, 0)}.Profile()))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Bytes("it", data); (s == nil) == (err == nil) {
			t.Errorf("%v and %v", s, err)
		}
	})
}
