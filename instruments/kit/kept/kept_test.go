package kept

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFaults(t *testing.T) {
	now := []string{"run", "run --new", "run --same", "find", "find --deep", "a.c", "a.c.x"}
	told := "`--old` is `--new`, `search` is `find`; --useless and a.b are gone.\n"
	for _, tt := range []struct{ list, want string }{
		{"# a remark\n\nrun\nrun --same\n", ""},
		{"run --old -> run --new\n", ""},
		{"search -> find\nsearch --deep\n", ""},
		{"a.b -> a.c\na.b.x\n", ""},
		{"a.b -> a.c\na.bc.x\n", "a.bc.x: is lost, without a word"},
		{"run --useless gone: nobody asked for it\n", ""},
		{"run --useless gone:\n", "run --useless: say why it is gone"},
		{"run --lost\n", "run --lost: is lost, without a word"},
		{"run --untold gone: so\n", "run --untold: no document says that --untold is gone or another"},
		{"run --ol -> run --new\n", "run --ol: no document says that --ol is gone or another"},
		{"run --old -> run --none\n", "run --old: there is no run --none, which it is said to be now"},
		{"run --same -> run --new\n", "run --same: is there, and the list says that it is not"},
	} {
		got := strings.Join(faults(tt.list, now, told), "\n")
		if first, _, _ := strings.Cut(got, "\n"); first != tt.want {
			t.Errorf("%q: %q, want %q", tt.list, got, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	type part struct {
		N    int `json:"n,omitempty"`
		Part *struct{ Deep int }
	}
	type embedded struct{ Own time.Time }
	type document struct {
		embedded
		Parts   []part                     `json:"parts"`
		By      map[string]map[string]part `json:"by"`
		Bytes   []byte
		Skipped int `json:"-"`
		_       int
	}
	want := []string{"Own", "parts", "parts[].n", "parts[].Part", "parts[].Part.Deep", "by", "by[][].n", "by[][].Part", "by[][].Part.Deep", "Bytes"}
	if got := JSON(reflect.TypeFor[document]()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMain lets a test have this binary as a program with help.
func TestMain(m *testing.M) {
	switch strings.Join(os.Args[1:], " ") {
	case "--help":
		fmt.Print("Usage: p <command>\n\nFlags:\n  -h, --help    Show help.\n\nCommands:\n  run          Run\n               it.\n\nMore:\n  find-it [flags]\n    Find --it.\n")
	case "run --help":
		fmt.Print("Usage: p run [<file>]\n\nArguments:\n  [<file>]    One.\n\nFlags:\n  -q, --quick         Soon, see\n                      --not-this.\n      --[no-]color=X  Colours.\n")
	case "find-it --help":
		fmt.Print("Commands:\n  find-it soon    Find it.\n")
	case "find-it soon --help":
	default:
		os.Exit(m.Run())
	}
}

func TestFlags(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Flags(self)
	name := filepath.Base(self)
	want := []string{"", " --help", " -h", " run", " run --quick", " run -q", " run --color", " find-it", " find-it soon"}
	for i := range want {
		want[i] = name + want[i]
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := Flags(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a program that is not there has flags")
	}
}
