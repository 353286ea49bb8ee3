package documented

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type document struct {
	Version int             `json:"version"`
	Parts   map[string]part `json:"parts,omitempty"`
	At      time.Time       `json:"at"`
}

type part struct {
	Name string `json:"name"`
}

const told = "## The JSON schema, version 3\n\n### document\n\n| `version` | |\n| `parts` | |\n| `at` | |\n\n### part\n\n| `name` | |\n"

// A struct of another package takes a heading if that package is one to document.
func TestOthers(t *testing.T) {
	if got := faults(told, 3, reflect.TypeFor[document](), "net/http"); got != nil {
		t.Errorf("no struct of the other package is in the document: %q", got)
	}
	if got := faults(told, 3, reflect.TypeFor[document](), "time"); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "Time: ") }) {
		t.Errorf("time.Time has no heading, and the faults are %q", got)
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		text    string
		version int
		want    []string
	}{
		{told, 3, nil},
		{told, 4, []string{`no heading "## The JSON schema, version 4\n"`}},
		{told + "| `size` | |\n", 3, []string{"part: documented [name size], has [name]"}},
		{told + "\n### lost\n\n| `x` | |\n", 3, []string{"documented, but not in the document: lost"}},
		{told[:len(told)-len("| `name` | |\n")], 3, []string{"part: documented [], has [name]"}},
	} {
		if got := faults(tt.text, tt.version, reflect.TypeFor[document]()); !slices.Equal(got, tt.want) {
			t.Errorf("%q, version %d: %q, want %q", tt.text, tt.version, got, tt.want)
		}
	}
}
