package dewpond_test

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/check"
)

// A Violation says all that the checks have found, and its text is made of all that it says.
func TestViolationsSayAllThatIsFound(t *testing.T) {
	var found check.Violation
	next := int64(0)
	fill(t, reflect.ValueOf(&found).Elem(), &next)
	found.Kind, found.Offset = check.WriteAfterPut, 8
	v, report := dewpond.Told[struct{ A, B int64 }](found)
	if !reflect.DeepEqual(report.Violation, found) {
		t.Errorf("of\n%+v\nthis is read:\n%+v", found, report.Violation)
	}
	for _, s := range []reflect.Value{reflect.ValueOf(v), reflect.ValueOf(report)} {
		for i := range s.NumField() {
			if s.Field(i).IsZero() {
				t.Errorf("%v: nothing sets the field %s", s.Type(), s.Type().Field(i).Name)
			}
		}
	}
}

// fill sets all in a value to numbers that differ.
func fill(t *testing.T, v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), next)
		}
	case reflect.String:
		v.SetString(string(rune('A' + *next)))
	case reflect.Int, reflect.Int64:
		v.SetInt(*next)
	case reflect.Uint8, reflect.Uintptr:
		v.SetUint(uint64(*next))
	default:
		t.Fatalf("nothing fills a %v", v.Type())
	}
}
