package load

import (
	"reflect"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/kept"
)

func TestNamesAreKept(t *testing.T) {
	kept.Test(t, "testdata/kept/result.txt", kept.JSON(reflect.TypeFor[Result]()), "../../CHANGELOG.md")
	kept.Test(t, "testdata/kept/mixing.txt", kept.JSON(reflect.TypeFor[Mixing]()), "../../CHANGELOG.md")
}
