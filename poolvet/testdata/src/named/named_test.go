package named

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
)

// same fails where memory that was put back has another content: a read after Put finds poison.
func same(tb testing.TB, got, want string) {
	if got != want {
		tb.Errorf("%q, want %q", got, want)
	}
}

func read(tb testing.TB, r io.Reader) string {
	all, err := io.ReadAll(r)
	if err != nil {
		tb.Errorf("%v", err)
	}
	return string(all)
}

func TestUnderCheckAll(t *testing.T) {
	type pool = *dewpond.BytePool
	ran.Run(t, []ran.Shape{
		{"resty", true, func(tb testing.TB, p pool) { resty(p, 1) }},
		{"restyMended", false, func(tb testing.TB, p pool) { restyMended(p, 1) }},
		{"syncthing", true, func(tb testing.TB, p pool) { syncthing(p, strings.NewReader("x")) }},
		{"syncthing, error", true, func(tb testing.TB, p pool) { syncthing(p, strings.NewReader("")) }},
		{"syncthingMended", false, func(tb testing.TB, p pool) { syncthingMended(p, strings.NewReader("x")) }},
		{"syncstorage", true, func(tb testing.TB, p pool) { same(tb, string(syncstorage(p, "abc")), "abc") }},
		{"syncstorageMended", false, func(tb testing.TB, p pool) { same(tb, string(syncstorageMended(p, "abc")), "abc") }},
		{"storages", true, func(tb testing.TB, p pool) { same(tb, read(tb, storages(p, "abc")), "abc") }},
		{"storagesMended", false, func(tb testing.TB, p pool) { same(tb, read(tb, storagesMended(p, "abc")), "abc") }},
		{"gin", true, func(tb testing.TB, p pool) { gin(p) }},
		{"ginMended", false, func(tb testing.TB, p pool) { ginMended(p) }},
		{"goFlow", true, func(tb testing.TB, p pool) {
			c := make(chan []byte, 1)
			goFlow(p, c)
			same(tb, string((<-c)[:1]), "\x01")
		}},
		{"goFlowMended", false, func(tb testing.TB, p pool) {
			c := make(chan []byte, 1)
			goFlowMended(p, c)
			same(tb, string((<-c)[:1]), "\x01")
		}},
		{"aibrix", true, func(tb testing.TB, p pool) { late(p, aibrix) }},
		{"aibrixMended", false, func(tb testing.TB, p pool) { late(p, aibrixMended) }},
		{"bleve", true, func(tb testing.TB, p pool) { same(tb, string(bleve(p, "abc").text), "abc") }},
		{"bleveMended", false, func(tb testing.TB, p pool) { same(tb, string(bleveMended(p, "abc").text), "abc") }},
		{"gnet", true, func(tb testing.TB, p pool) { gnet(p, strings.NewReader("x")) }},
		{"gnetMended", false, func(tb testing.TB, p pool) { gnetMended(p, strings.NewReader("x")) }},
		{"tempo", true, func(tb testing.TB, p pool) { same(tb, tempo(p, "abc"), "abc") }},
		{"tempoMended", false, func(tb testing.TB, p pool) { same(tb, tempoMended(p, "abc"), "abc") }},
		{"pyroscope", true, func(tb testing.TB, p pool) {
			var l labels
			pyroscope(p, &l, "abc")
			same(tb, l.names[0], "abc")
		}},
		{"gin 4117", true, func(tb testing.TB, p pool) {
			var kept *context
			handled(p, func(c *context) { kept = c })
			kept.body[0] = 1
		}},
		{"gin 4117, mended", false, func(tb testing.TB, p pool) {
			handled(p, func(c *context) { c.body[0] = 1 })
		}},
	})
}

// late lets the goroutine of a shape go on once the shape has returned.
func late(p *dewpond.BytePool, shape func(*dewpond.BytePool, *sync.WaitGroup, <-chan bool)) {
	var done sync.WaitGroup
	turn := make(chan bool)
	shape(p, &done, turn)
	close(turn)
	done.Wait()
}
