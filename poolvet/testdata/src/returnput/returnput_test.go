//go:build twin

package returnput

import (
	"bytes"
	"io"
	"testing"

	"testdata.example/src/ran"
	"testdata.example/src/twin"
)

func init() { twin.Spoil(func(w *writer) { w.out = *bytes.NewBufferString("put back") }) }

func TestUnderCheckAll(t *testing.T) {
	ran.Run(t, []ran.Shape{
		twin.Bad("bytesReturned", func(tb testing.TB) { twin.Same(tb, string(bytesReturned()), "x") }),
		twin.Bad("withError", func(tb testing.TB) {
			b, _ := withError("x")
			twin.Same(tb, string(b), "x")
		}),
		twin.Good("withError, an error", func(tb testing.TB) {
			if _, err := withError(""); err == nil {
				tb.Errorf("no error")
			}
		}),
		twin.Good("copied", func(tb testing.TB) {
			b, s := copied()
			twin.Same(tb, string(b)+s, "xx")
		}),
		twin.Bad("captured", func(tb testing.TB) { twin.Same(tb, string(captured()), "x") }),
		twin.Bad("guardedBySize", func(tb testing.TB) { twin.Same(tb, string(guardedBySize()), "x") }),
		twin.Bad("reader", func(tb testing.TB) {
			b, err := io.ReadAll(reader())
			if err != nil {
				tb.Errorf("%v", err)
			}
			twin.Same(tb, string(b), "x")
		}),
		twin.Bad("sent", func(tb testing.TB) {
			to := make(chan *bytes.Buffer, 1)
			sent(to)
			twin.Same(tb, (<-to).String(), "x")
		}),
		twin.Bad("stored", func(tb testing.TB) {
			var h holder
			h.stored()
			twin.Same(tb, string(h.last), "x")
		}),
		twin.Good("lent", func(tb testing.TB) {
			var h holder
			h.lent()
			twin.Same(tb, string(h.last), "")
		}),
		twin.Bad("literal", func(tb testing.TB) { twin.Same(tb, string(literal()), "x") }),
		twin.Good("replaced", func(tb testing.TB) { twin.Same(tb, string(replaced(nil)), "x") }),
	})
}
