package check

import (
	"reflect"
	"testing"
)

func TestFieldAt(t *testing.T) {
	type inner struct{ A, B int32 }
	type outer struct {
		X int64
		_ [8]byte
		inner
		Y [4]byte
	}
	for offset, want := range map[uintptr]string{0: "X", 7: "X", 8: "_", 16: "inner.A", 20: "inner.B", 27: "Y", 28: "", 1000: ""} {
		if got := FieldAt(reflect.TypeFor[outer](), offset); got != want {
			t.Errorf("at %d is %q, want %q", offset, got, want)
		}
	}
	if got := FieldAt(reflect.TypeFor[int](), 0) + FieldAt(nil, 0); got != "" {
		t.Errorf("what has no fields has %q", got)
	}
}
