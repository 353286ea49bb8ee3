package result_test

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/documented"
	"github.com/dewpond/dewpond/internal/measure/result"
)

func TestSchemaIsDocumented(t *testing.T) {
	faults, err := documented.Faults("../../../docs/schema.md", result.Schema, reflect.TypeFor[result.Document]())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}
