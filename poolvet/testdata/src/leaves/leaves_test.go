package leaves

import (
	"io"
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
	"testdata.example/src/twin"
)

func TestUnderCheckAll(t *testing.T) {
	bad := func(name string, run func(p *dewpond.BytePool) string) ran.Shape {
		return ran.Shape{Name: name, Bad: true, Run: func(tb testing.TB, p *dewpond.BytePool) { twin.Same(tb, run(p), "x") }}
	}
	read := func(r io.Reader) string {
		b, err := io.ReadAll(r)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	ran.Run(t, []ran.Shape{
		bad("pointer", func(p *dewpond.BytePool) string { return string(pointer(p).body) }),
		bad("value", func(p *dewpond.BytePool) string { return string(value(p).body) }),
		bad("nested", func(p *dewpond.BytePool) string { return string(nested(p).more[0].body) }),
		bad("field", func(p *dewpond.BytePool) string { return string(field(p).body) }),
		bad("reader", func(p *dewpond.BytePool) string { return read(reader(p).r) }),
		bad("slice", func(p *dewpond.BytePool) string { return string(slice(p)[0]) }),
		bad("appended", func(p *dewpond.BytePool) string { return string(appended(p, nil)[0]) }),
		bad("element", func(p *dewpond.BytePool) string { return string(element(p)[0]) }),
		bad("table", func(p *dewpond.BytePool) string { return string(table(p)["x"]) }),
		bad("function", func(p *dewpond.BytePool) string { return string(function(p)()) }),
		bad("method", func(p *dewpond.BytePool) string { return method(p)() }),
		bad("intoMap", func(p *dewpond.BytePool) string {
			m := map[string][]byte{}
			intoMap(p, m)
			return string(m["x"])
		}),
		bad("intoSlice", func(p *dewpond.BytePool) string {
			var all [][]byte
			intoSlice(p, &all)
			return string(all[0])
		}),
		bad("intoField", func(p *dewpond.BytePool) string {
			var a answer
			intoField(p, &a)
			return read(a.r)
		}),
		bad("inField", func(p *dewpond.BytePool) string {
			var a answer
			inField(p, &a)
			return string(a.body)
		}),
		bad("sent", func(p *dewpond.BytePool) string {
			to := make(chan answer, 1)
			sent(p, to)
			return string((<-to).body)
		}),
		bad("rows", func(p *dewpond.BytePool) string { return string(rows(p, 1)[0]) }),
		bad("literalBefore", func(p *dewpond.BytePool) string { return string(literalBefore(p).body) }),
		bad("releasedLater", func(p *dewpond.BytePool) string { return string(releasedLater(p)) }),
		bad("releasedBefore", func(p *dewpond.BytePool) string { return string(releasedBefore(p)) }),
		bad("releasedTwice", func(p *dewpond.BytePool) string {
			releasedTwice(p)
			return "x"
		}),
	})
}
