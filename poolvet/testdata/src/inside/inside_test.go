//go:build twin

package inside

import (
	"testing"

	"testdata.example/src/ran"
	"testdata.example/src/twin"
)

func init() {
	twin.Spoil(func(t *text) {
		t.b = t.b[:cap(t.b)]
		for i := range t.b {
			t.b[i] = twin.Poison
		}
	})
}

func TestUnderCheckAll(t *testing.T) {
	ran.Run(t, []ran.Shape{
		twin.Bad("returned", func(tb testing.TB) { twin.Same(tb, string(returned(12)), "12") }),
		twin.Bad("deeper", func(tb testing.TB) { twin.Same(tb, string(deeper(12)), "2") }),
		twin.Bad("read", func(tb testing.TB) { twin.Same(tb, read(12), '1') }),
		twin.Bad("fieldRead", func(tb testing.TB) { twin.Same(tb, fieldRead(12), '1') }),
		twin.Good("asString", func(tb testing.TB) { twin.Same(tb, asString(12), "12") }),
		twin.Good("asCopy", func(tb testing.TB) { twin.Same(tb, string(asCopy(12)), "12") }),
		twin.Good("detached", func(tb testing.TB) { twin.Same(tb, string(detached(1)), "\x00") }),
	})
}
