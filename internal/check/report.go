package check

import (
	"reflect"
	"strings"
)

// FieldAt returns the path of the innermost field of a type at an offset, or "" if there is
// none.
func FieldAt(t reflect.Type, offset uintptr) string {
	var path []string
	for t != nil && t.Kind() == reflect.Struct {
		var in reflect.Type
		for i := range t.NumField() {
			if f := t.Field(i); f.Offset <= offset && offset-f.Offset < f.Type.Size() {
				path, in, offset = append(path, f.Name), f.Type, offset-f.Offset
				break
			}
		}
		t = in
	}
	return strings.Join(path, ".")
}
