package logline

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/kept"
)

func TestNamesAreKept(t *testing.T) {
	kept.Test(t, "testdata/kept/line.txt", kept.JSON(reflect.TypeFor[Line]()), "../../../CHANGELOG.md")
}
