package buffer

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
)

func TestUnderCheckAll(t *testing.T) {
	ran.Run(t, []ran.Shape{
		{"late", true, func(tb testing.TB, p *dewpond.BytePool) {
			if b := late(p, strings.Repeat("y", 1000)); b != 'x' {
				tb.Errorf("%#x", b)
			}
		}},
		{"released", true, func(tb testing.TB, p *dewpond.BytePool) { b := released(p); b[0] = 1 }},
		{"deferred", true, func(tb testing.TB, p *dewpond.BytePool) { b := deferred(p); b[0] = 1 }},
		{"available", false, func(tb testing.TB, p *dewpond.BytePool) {
			if s := available(p); s != "012" {
				tb.Errorf("%q", s)
			}
		}},
	})
}
