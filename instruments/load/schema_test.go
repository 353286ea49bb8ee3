package load_test

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/documented"
	"github.com/dewpond/dewpond/instruments/load"
)

func TestSchemaIsDocumented(t *testing.T) {
	faults, err := documented.Faults("../../docs/load.md", load.Schema, reflect.TypeFor[load.Result]())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}
