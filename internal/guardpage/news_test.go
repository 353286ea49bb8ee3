package guardpage

import (
	"slices"
	"syscall"
	"testing"
)

// The first block is news, and so are the first pause and the end, each once and with its reason.
func TestNews(t *testing.T) {
	type news struct {
		News
		why string
	}
	told := make(chan news, 100)
	tell := func(n News, why string) { told <- news{n, why} }
	f := newFake(4096)
	g, p := f.guard(), &pool{}
	g.Tell(tell)
	f.says = "a tracer is attached"
	for range 3 {
		if g.Get(make([]byte, 100), p) != nil {
			t.Fatal("a block while a tracer is attached")
		}
		g.asked = g.asked.Add(-sweepTime)
	}
	f.says = ""
	for range 3 {
		put(t, g, p, 100)
	}
	f.refuses = syscall.EINVAL
	g.Put(g.Get(make([]byte, 100), p), false, p)
	all := []news{<-told, <-told, <-told} // in any order: each in a goroutine
	slices.SortFunc(all, func(a, b news) int { return int(a.News) - int(b.News) })
	want := []news{{Works, ""}, {Pauses, "a tracer is attached"}, {Ended, "the system does not take pages back: " + syscall.EINVAL.Error()}}
	if !slices.Equal(all, want) {
		t.Errorf("told %v, want %v", all, want)
	}
	newGuard(f.system, "not on plan9", Setting{Rate: 1}, func() {}).Tell(tell)
	if got := <-told; got != (news{Ended, "not on plan9"}) || len(told) != 0 {
		t.Errorf("told %v, and %d more", got, len(told))
	}
}
