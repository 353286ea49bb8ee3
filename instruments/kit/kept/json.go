package kept

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// JSON returns the path of each value that encoding/json writes of a type: "session.response.p99_ns".
// The elements of a list and of a map are "[]". A type within itself is listed once.
func JSON(t reflect.Type) []string { return paths(t, "", nil) }

func paths(t reflect.Type, at string, within []reflect.Type) (out []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if marshals(t) || slices.Contains(within, t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		if e := t.Elem(); e.Kind() != reflect.Uint8 {
			return paths(e, at+"[]", within)
		}
	case reflect.Struct:
		within = append(slices.Clone(within), t)
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" {
				out = append(out, paths(f.Type, at, within)...)
				continue
			}
			if !f.IsExported() || name == "-" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			path := strings.TrimPrefix(at+"."+name, ".")
			out = append(append(out, path), paths(f.Type, path, within)...)
		}
	}
	return out
}

// marshals reports whether a type writes itself.
func marshals(t reflect.Type) bool {
	for _, i := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}
