package load_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/load"
)

// docs/load.md describes each struct of a result under a heading of its name: exactly the fields
// that the struct has.
func TestSchemaIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../docs/load.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("## The JSON schema, version %d\n", load.Schema); !strings.Contains(string(data), want) {
		t.Errorf("no heading %q", want)
	}
	field := regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|")
	documented := map[string][]string{}
	for _, section := range strings.Split(string(data), "\n### ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		for _, m := range field.FindAllStringSubmatch(body, -1) {
			documented[name] = append(documented[name], m[1])
		}
	}
	structs := map[string][]string{}
	collect(reflect.TypeFor[load.Result](), structs)
	if len(structs) < 7 {
		t.Fatalf("only %d structs were found: %v", len(structs), structs)
	}
	for name, fields := range structs {
		if got := documented[name]; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(fields))) {
			t.Errorf("%s: documented %v, has %v", name, got, fields)
		}
	}
	for name := range documented {
		if structs[name] == nil {
			t.Errorf("documented, but not in the result: %s", name)
		}
	}
}

// collect lists the JSON names of each struct of this package. A struct within another has its
// own heading.
func collect(t reflect.Type, into map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[load.Result]().PkgPath() || into[t.Name()] != nil {
		return
	}
	into[t.Name()] = []string{}
	for f := range t.Fields() {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			into[t.Name()] = append(into[t.Name()], name)
		}
		collect(f.Type, into)
	}
}
