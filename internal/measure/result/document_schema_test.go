package result_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// docs/schema.md describes each struct of the document under a heading of its name, with exactly the
// fields that the struct has.
func TestSchemaIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("## The JSON schema, version %d\n", result.Schema); !strings.Contains(string(data), want) {
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
	collect(reflect.TypeFor[result.Document](), structs)
	if len(structs) < 8 {
		t.Fatalf("only %d structs were found: %v", len(structs), structs)
	}
	for name, fields := range structs {
		got := documented[name]
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(fields))) {
			t.Errorf("%s: documented %v, has %v", name, got, fields)
		}
	}
	for name := range documented {
		if structs[name] == nil {
			t.Errorf("documented, but not in the document: %s", name)
		}
	}
}

// collect lists the JSON names of a struct and of every struct within.
func collect(t reflect.Type, into map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || into[t.Name()] != nil {
		return
	}
	into[t.Name()] = []string{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		into[t.Name()] = append(into[t.Name()], name)
		collect(f.Type, into)
	}
}
