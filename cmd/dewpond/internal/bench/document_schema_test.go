package bench_test

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/documented"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestSchemaIsDocumented(t *testing.T) {
	faults, err := documented.Faults("../../../../docs/schema.md", bench.Schema, reflect.TypeFor[bench.Document](), reflect.TypeFor[result.Figure]().PkgPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}
