package report

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/kept"
)

func TestNamesAreKept(t *testing.T) {
	kept.Test(t, "testdata/kept/document.txt", kept.JSON(reflect.TypeFor[document]()), "../../../../CHANGELOG.md")
}
