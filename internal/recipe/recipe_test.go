package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const done = `# To add a thing: pile
-- things/pile.go --
package things

var pile int
-- things/all.go after ring, --
	pile,
-- things/all.go after // the end --
// pile is the last
-- docs/things.md --
`

var before = fstest.MapFS{
	"things/all.go":  {Data: []byte("var all = {\n\tring, // one\n}\n// the end\n")},
	"docs/things.md": {Data: []byte("ring\n")},
}

func TestFiles(t *testing.T) {
	r, err := Parse([]byte(done))
	if err != nil {
		t.Fatal(err)
	}
	if r.Heading != "To add a thing" || r.Name != "pile" || !slices.Equal(r.Paths(), []string{"docs/things.md", "things/all.go", "things/pile.go"}) {
		t.Errorf("it is %+v, of %q", r, r.Paths())
	}
	const pile = "package things\n\nvar pile int\n"
	const all, edited = "var all = {\n\tring, // one\n}\n// the end\n", "var all = {\n\tring, // one\n\tpile,\n}\n// the end\n// pile is the last\n"
	for without, want := range map[string]map[string]string{
		"":               {"things/pile.go": pile, "things/all.go": edited, "docs/things.md": "ring\n"},
		"things/pile.go": {"things/all.go": edited, "docs/things.md": "ring\n"},
		"things/all.go":  {"things/pile.go": pile, "things/all.go": all, "docs/things.md": "ring\n"},
		"docs/things.md": {"things/pile.go": pile, "things/all.go": edited},
	} {
		files, err := r.files(before, without)
		if err != nil || len(files) != len(want) {
			t.Errorf("without %q: %q, %v", without, files, err)
		}
		for name, text := range want {
			if string(files[name]) != text {
				t.Errorf("without %q, %s is %q, want %q", without, name, files[name], text)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	if _, err := Parse([]byte("-- a --\n")); err == nil {
		t.Error("it needs no heading")
	}
	for text, want := range map[string]string{
		"-- things/all.go --\nanew\n":            "things/all.go is there already",
		"-- things/all.go after gone --\n\tpile": `no line of things/all.go has "gone"`,
		"-- gone.go after x --\n\tpile":          "gone.go",
		"-- gone.go --\n":                        "gone.go",
	} {
		r, err := Parse([]byte("# To add a thing: pile\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.files(before, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %s", text, err, want)
		}
	}
}

// A recipe is not whole if what it adds does not work, and says too much of each file without
// which it works.
func TestHold(t *testing.T) {
	r, err := Parse([]byte(done))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		works func(files map[string][]byte) bool
		want  []string
	}{
		"whole": {func(files map[string][]byte) bool {
			return len(files) == 3 && strings.Contains(string(files["things/all.go"]), "pile")
		}, nil},
		"lacking":  {func(map[string][]byte) bool { return false }, []string{"something lacks: it does not work"}},
		"needless": {func(files map[string][]byte) bool { return files["things/pile.go"] != nil }, []string{"without docs/things.md", "without things/all.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			var said said
			r.hold(&said, before, func(_ string, files map[string][]byte) error {
				if tt.works(files) {
					return nil
				}
				return fmt.Errorf("it does not work")
			})
			if len(said) != len(tt.want) {
				t.Fatalf("it said %q, want %q", said, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(said[i], want) {
					t.Errorf("it said %q, want %q", said[i], want)
				}
			}
		})
	}
}

// said is a T that goes on.
type said []string

func (s *said) Helper()                           {}
func (s *said) TempDir() string                   { return "" }
func (s *said) Errorf(format string, args ...any) { *s = append(*s, fmt.Sprintf(format, args...)) }
func (s *said) Fatalf(format string, args ...any) { *s = []string{fmt.Sprintf(format, args...)} }
