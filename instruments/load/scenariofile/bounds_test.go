package scenariofile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// TestBounds has files that the parser takes gigabytes for, or minutes. They are refused before it
// begins, and what is not refused takes little.
func TestBounds(t *testing.T) {
	const mb = 1 << 20
	indented := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
		}
		return b.String()
	}
	for name, c := range map[string]struct{ text, want string }{
		"brackets":      {strings.Repeat("[", 200_000), "s.yaml:1: more than 100 levels"},
		"braces":        {"a: 1\nb: " + strings.Repeat("{a: ", 200_000), "s.yaml:2: more than 100 levels"},
		"JSON":          {strings.Repeat(`{"a":`, 200_000), "more than 100 levels"},
		"lists":         {strings.Repeat("- ", mb/2), "more than 100 levels"},
		"keys":          {strings.Repeat("? ", mb/2), "more than 100 levels"},
		"indentation":   {indented(1000), "s.yaml:101: more than 100 levels"},
		"wide":          {"a: [" + strings.Repeat("1,", mb/4) + "]", "more than 20000 marks"},
		"lines":         {strings.Repeat("\n", mb), "more than 20000 marks"},
		"one long name": {strings.Repeat("a", mb/2) + ": [" + strings.Repeat("1,", 10_000) + "]", "names of 524288 bytes around each other"},
		"too long":      {"a: " + strings.Repeat("x", mb), "more than 1048576 bytes are no scenario"},
		"a long text":   {"name: " + strings.Repeat("x", mb-10), "it has no session"},
		"a long list":   {"session: [" + strings.Repeat("1,", 15_000) + "1]", "give name: VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := scenariofile.Parse("s.yaml", []byte(c.text))
			runtime.ReadMemStats(&after)
			if !errors.As(err, new(*load.InvalidError)) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %.300v", err)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 200*mb {
				t.Errorf("it took %d MB", taken/mb)
			}
		})
	}
}

// TestOrdinary has what looks deep or long and is a scenario.
func TestOrdinary(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	text := "target: http://h\narrivals: {rate: 1, duration: 1s}\nsession:\n- {name: a, post: /, json: " + deep + "}\n" +
		"- name: b\n  post: /\n  body: |\n" + strings.Repeat("    - - - - - - - - -\n    [ ] {\"a\": [1, 2, 3]}\n", 500)
	f, err := scenariofile.Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Scenario.Validate(); err != nil || len(f.Scenario.Session) != 2 {
		t.Error(err)
	}
}

// TestBelow has a scenario whose files are elsewhere.
func TestBelow(t *testing.T) {
	top := t.TempDir()
	own := filepath.Join(top, "own")
	write := func(name string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("one\ntwo\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(top, "secret.txt"))
	write(filepath.Join(own, "ids.txt"))
	write(filepath.Join(own, "sub", "ids.txt"))
	links := os.Symlink(filepath.Join(top, "secret.txt"), filepath.Join(own, "link.txt")) == nil
	for _, c := range []struct {
		name       string
		below, all bool // whether it is read, by itself and with the directory above as the root
	}{
		{"ids.txt", true, true},
		{"sub/ids.txt", true, true},
		{"sub/../ids.txt", true, true},
		{filepath.Join(own, "ids.txt"), true, true},
		{"../secret.txt", false, true},
		{filepath.Join(top, "secret.txt"), false, true},
		{"../../etc/passwd", false, false},
		{"link.txt", false, false}, // absolute: os.Root follows none
		{"sub", false, false},
	} {
		if c.name == "link.txt" && !links {
			continue
		}
		path := filepath.Join(own, "s.yaml")
		text := "target: http://h\ndata: {x: {lines: '" + c.name + "'}}\nsession: [{name: a, get: '/${x}'}]\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, way := range []struct {
			root string
			want bool
		}{{"", c.below}, {top, c.all}} {
			f, err := scenariofile.ReadBelow(path, way.root)
			if (err == nil) != way.want {
				t.Errorf("%s below %q: %v", c.name, way.root, err)
			}
			if err == nil && string(f.Files[c.name]) != "one\ntwo\n" {
				t.Errorf("%s has %q", c.name, f.Files[c.name])
			}
		}
	}
}
