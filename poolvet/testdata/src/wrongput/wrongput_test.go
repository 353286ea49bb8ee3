package wrongput

import (
	"io"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"testdata.example/src/ran"
	"testdata.example/src/twin"
)

func TestUnderCheckAll(t *testing.T) {
	run := func(f func(tb testing.TB)) func(testing.TB, *dewpond.BytePool) {
		return func(tb testing.TB, p *dewpond.BytePool) {
			small, large = p, dewtest.NewBytePool(tb, dewpond.BytePoolOptions{Name: "large"})
			f(tb)
		}
	}
	long := make([]byte, 1000)
	ran.Run(t, []ran.Shape{
		{"late", true, run(func(tb testing.TB) { late() })},
		{"shorter", false, run(func(tb testing.TB) { shorter() })},
		{"appended", true, run(func(tb testing.TB) { appended(long) })},
		{"grown", false, run(func(tb testing.TB) { grown(long) })},
		{"oldAfterGrow", true, run(func(tb testing.TB) { twin.Same(tb, oldAfterGrow(long), 0) })},
		{"made", true, run(func(tb testing.TB) { made() })},
		{"other", true, run(func(tb testing.TB) { other() })},
		{"inALoop", true, run(func(tb testing.TB) { inALoop(long) })},
		{"byAHelper", true, run(func(tb testing.TB) { byAHelper(long) })},
		{"advanced", true, run(func(tb testing.TB) { advanced(io.Discard) })},
		{"fitting", false, run(func(tb testing.TB) { fitting(long) })},
		{"deferred", false, run(func(tb testing.TB) { deferred(long) })},
	})
}
