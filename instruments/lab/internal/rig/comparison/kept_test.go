package comparison

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/kept"
)

func TestNamesAreKept(t *testing.T) {
	kept.Test(t, "testdata/kept/report.txt", kept.JSON(reflect.TypeFor[Report]()), "../../../../../CHANGELOG.md")
}
