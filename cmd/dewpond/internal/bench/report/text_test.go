package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test -update rewrites it. Got:\n%s", path, got)
	}
}

func TestTextGolden(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(1, 6, 30_000, synthetic.Pools...))
	var out bytes.Buffer
	if err := Text(&out, d, terminal.Style{Width: 110}); err != nil {
		t.Fatal(err)
	}
	golden(t, "mixed.txt", out.Bytes())
}

func TestTextFitsTheTerminal(t *testing.T) {
	documents := synthetic.Scenarios()
	documents["mixed"] = synthetic.Document(synthetic.Mixed, synthetic.Rounds(1, 6, 30_000, synthetic.Pools...))
	for _, d := range documents {
		checkWidths(t, d)
	}
}

func checkWidths(t *testing.T, d bench.Document) {
	t.Helper()
	for _, width := range []int{60, 80, 100, 120} {
		var out bytes.Buffer
		if err := Text(&out, d, terminal.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		tables, _, _ := strings.Cut(out.String(), "\nscenario ")
		for line := range strings.Lines(tables) {
			if w := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("width %d: a line of %d: %q", width, w, line)
			}
		}
	}
}
