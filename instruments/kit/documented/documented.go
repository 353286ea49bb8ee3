// Package documented holds a document's text against the structs that are written as JSON. It is
// for tests.
package documented

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// field matches a row of a table whose first cell is a field's name.
var field = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|")

// Faults says where the text of a file differs from how a struct is written as JSON. The text has a
// heading with the schema's version. The struct, and each within it that is of its package or of one
// of the others, has a heading of its name, and under that a row for each field and no other.
func Faults(file string, version int, document reflect.Type, others ...string) ([]string, error) {
	data, err := os.ReadFile(file)
	return faults(string(data), version, document, others...), err
}

func faults(text string, version int, document reflect.Type, others ...string) (out []string) {
	if want := fmt.Sprintf("## The JSON schema, version %d\n", version); !strings.Contains(text, want) {
		out = append(out, fmt.Sprintf("no heading %q", want))
	}
	documented := map[string][]string{}
	for _, section := range strings.Split(text, "\n### ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		for _, m := range field.FindAllStringSubmatch(body, -1) {
			documented[name] = append(documented[name], m[1])
		}
	}
	structs := map[string][]string{}
	collect(document, append(others, document.PkgPath()), structs)
	for name, fields := range structs {
		if got := documented[name]; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(fields))) {
			out = append(out, fmt.Sprintf("%s: documented %v, has %v", name, got, fields))
		}
	}
	for name := range documented {
		if structs[name] == nil {
			out = append(out, "documented, but not in the document: "+name)
		}
	}
	slices.Sort(out)
	return out
}

// collect lists the JSON names of each struct of some packages, from one on. A struct within another
// has its own heading.
func collect(t reflect.Type, packages []string, into map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || !slices.Contains(packages, t.PkgPath()) || into[t.Name()] != nil {
		return
	}
	into[t.Name()] = []string{}
	for f := range t.Fields() {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			into[t.Name()] = append(into[t.Name()], name)
		}
		collect(f.Type, packages, into)
	}
}
