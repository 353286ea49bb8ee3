package guardpage

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// A pool is an Owner that notes what it is told.
type pool struct {
	name  string
	found []misuse.Violation
}

func (p *pool) Name() string              { return p.name }
func (p *pool) Report(v misuse.Violation) { p.found = append(p.found, v) }

// fake is a system with pages of a size, that says what is noted of them.
type fake struct {
	system
	absent  map[uintptr]bool
	hidden  map[uintptr]bool
	refuses error
	left    uint64 // what collections leave of the heap
	says    string
	huge    bool     // pages are made unasked
	small   [][]byte // what was asked to be kept so
}

func newFake(pageSize int) *fake {
	f := &fake{absent: map[uintptr]bool{}, hidden: map[uintptr]bool{}}
	f.pageSize = pageSize
	each := func(pages []byte, do func(at uintptr)) {
		if addressOf(pages)%uintptr(pageSize) != 0 || len(pages)%pageSize != 0 {
			panic(fmt.Sprintf("%d bytes at %#x are no pages of %d", len(pages), addressOf(pages), pageSize))
		}
		for at := 0; at < len(pages); at += pageSize {
			do(addressOf(pages) + uintptr(at))
		}
	}
	f.giveBack = func(pages []byte) error {
		if f.refuses == nil {
			each(pages, func(at uintptr) { f.absent[at] = true })
			clear(pages)
		}
		return f.refuses
	}
	f.resident = func(pages []byte) (is []bool, err error) {
		each(pages, func(at uintptr) {
			from := int(at - addressOf(pages))
			if len(bytes.Trim(pages[from:from+pageSize], "\x00")) > 0 { // it was written to
				delete(f.absent, at)
			}
			is = append(is, !f.absent[at])
		})
		return is, nil
	}
	f.live = func() uint64 { return f.left }
	f.touches = func() string { return f.says }
	f.unasked = func() bool { return f.huge }
	f.keepSmall = func(pages []byte) error {
		f.small = append(f.small, pages)
		return f.refuses
	}
	f.hide = func(pages []byte) error {
		each(pages, func(at uintptr) { f.hidden[at] = true })
		return nil
	}
	f.open = func(pages []byte) error {
		each(pages, func(at uintptr) { delete(f.hidden, at) })
		return nil
	}
	return f
}

// touch is what the system sees of an access.
func (f *fake) touch(b []byte) { delete(f.absent, addressOf(b)&^uintptr(f.pageSize-1)) }

// guard returns a Guard that the test alone sweeps, so that it may look at it without its lock.
func (f *fake) guard() *Guard {
	g := touching(f.system)
	g.sweeps = true
	return g
}

func touching(s system) *Guard { return newGuard(s, "", Setting{Rate: DefaultRate}, func() {}) }

func faulting(s system) *Guard {
	return newGuard(s, "", Setting{Rate: DefaultRate, Fault: true}, func() {})
}

// put samples a block and puts it back.
func put(t *testing.T, g *Guard, p *pool, size int) (block []byte) {
	t.Helper()
	own := make([]byte, size)
	if block = g.Get(own, p); block == nil {
		t.Fatalf("no block of %d bytes: %s", size, g.Off())
	}
	if len(block) != size || cap(block) != size || addressOf(block)%Marked != 0 || !IsMarked(addressOf(block)) {
		t.Fatalf("len %d, cap %d, at %#x", len(block), cap(block), addressOf(block))
	}
	if back, v, _ := g.Put(block, false, p); v != Accepted || addressOf(back) != addressOf(own) {
		t.Fatalf("Put: %v", v)
	}
	return block
}

// Blocks of every size lie on pages of their own, also where pages are larger than Go's.
func TestPages(t *testing.T) {
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10} {
		f := newFake(page)
		g, p := f.guard(), &pool{}
		for _, size := range []int{1, 64, 4080, 4081, 4096, 32768, 65519, 65520, MaxSize} {
			if n := bytesFor(Marked, size, page); n%page != 0 || n < Marked+size || n >= Marked+size+page {
				t.Errorf("a block of %d bytes takes %d of pages of %d", size, n, page)
			}
			block := put(t, g, p, size)
			if found := g.around(addressOf(block) + uintptr(size-1)); found == nil || found.at != addressOf(block) {
				t.Errorf("the last of %d bytes is not found, of pages of %d", size, page)
			}
			if g.around(addressOf(block)+uintptr(size)) != nil || g.around(addressOf(block)-1) != nil {
				t.Errorf("bytes beside a block of %d are found, of pages of %d", size, page)
			}
			f.touch(block[size-1:])
			if g.Sweep(); len(p.found) != 1 || p.found[0].Kind != misuse.ReadAfterPut || p.found[0].Offset > size {
				t.Errorf("found %v", p.found)
			}
			p.found = nil
		}
		if b := g.Get(make([]byte, MaxSize+1), p); b != nil {
			t.Error("a block is too large")
		}
	}
}

// Where the system does not do what guarding rests on, it is off for good and says why, before the
// first block or at any later one.
func TestFalseSystems(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken func(f *fake)
		want   string
	}{
		{"every page is resident", func(f *fake) {
			f.resident = func(pages []byte) ([]bool, error) { return allAre(pages, f.pageSize, true), nil }
		}, "mincore calls a page resident that was given back"},
		{"no page is resident", func(f *fake) {
			f.resident = func(pages []byte) ([]bool, error) { return allAre(pages, f.pageSize, false), nil }
		}, "mincore calls a page absent that is in use"},
		{"a filter refuses mincore", func(f *fake) {
			f.resident = func([]byte) ([]bool, error) { return nil, syscall.EPERM }
		}, "mincore fails: " + syscall.EPERM.Error()},
		{"pages are locked", func(f *fake) { f.giveBack = func([]byte) error { return syscall.EINVAL } },
			"the system does not take pages back: " + syscall.EINVAL.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(4096)
			c.broken(f)
			g, p := f.guard(), &pool{}
			if b := g.Get(make([]byte, 100), p); b != nil || g.Off() != c.want || g.Due() {
				t.Errorf("off: %q, want %q", g.Off(), c.want)
			}

			f = newFake(4096)
			g = f.guard()
			block := put(t, g, p, 100)
			out := g.Get(make([]byte, 100), p)
			c.broken(f)
			g.sys = f.system
			f.touch(block)
			if own, v, _ := g.Put(out, false, p); own == nil || v != Accepted {
				t.Errorf("Put: %v", v)
			}
			g.Sweep()
			if g.Off() != c.want || g.Get(make([]byte, 100), p) != nil || len(p.found) != 0 || len(g.queue) != 0 {
				t.Errorf("later, off: %q, want %q, with %d in the queue; found %v", g.Off(), c.want, len(g.queue), p.found)
			}
		})
	}
}

// A system that fails in the midst of a sweep ends it, and nothing of it is reported.
func TestSweepFails(t *testing.T) {
	f := newFake(4096)
	g, p := f.guard(), &pool{}
	f.touch(put(t, g, p, 100))
	second := put(t, g, p, 100)
	f.touch(put(t, g, p, 100))
	g.sys.resident = func(pages []byte) ([]bool, error) {
		if addressOf(pages)+Marked == addressOf(second) {
			return nil, syscall.ENOMEM
		}
		return f.resident(pages)
	}
	g.Sweep()
	if want := "mincore fails: " + syscall.ENOMEM.Error(); g.Off() != want || len(p.found) != 0 || g.Known() != 0 || g.idle != (amount{}) || len(g.queue) != 0 {
		t.Errorf("off: %q; found %v; %d known, %+v in the queue", g.Off(), p.found, g.Known(), g.idle)
	}
}

func allAre(pages []byte, size int, is bool) (all []bool) {
	for range len(pages) / size {
		all = append(all, is)
	}
	return all
}

// While a tracer is attached, or huge pages are made, nothing is guarded, and what was is not reported.
func TestPaused(t *testing.T) {
	f := newFake(4096)
	g, p := f.guard(), &pool{}
	f.touch(put(t, g, p, 100))
	f.says = "a tracer is attached"
	g.asked = time.Time{}
	g.Sweep()
	if g.Off() != f.says || g.Get(make([]byte, 100), p) != nil || len(p.found) != 0 {
		t.Errorf("off: %q; found %v", g.Off(), p.found)
	}
	f.says = ""
	g.asked = time.Time{}
	f.touch(put(t, g, p, 100))
	if g.Sweep(); g.Off() != "" || len(p.found) != 1 {
		t.Errorf("off: %q; found %v", g.Off(), p.found)
	}
	f.touch(put(t, g, p, 100))
	f.says = "it came since the last look"
	if g.Sweep(); len(p.found) != 1 {
		t.Errorf("found %v", p.found)
	}
}

// What the system is asked is asked without the lock, so others' calls go on meanwhile: they must find
// everything in order.
func TestAsksWithoutLock(t *testing.T) {
	f := newFake(4096)
	g, p := f.guard(), &pool{}
	asked := 0
	during := func() {}
	g.sys.touches = func() string {
		asked++
		if !g.mu.TryLock() {
			t.Error("the system is asked under the lock")
			return ""
		}
		g.mu.Unlock()
		do := during
		during = func() {}
		do()
		return ""
	}
	during = func() {
		if g.Get(make([]byte, 100), p) != nil {
			t.Error("a block is guarded before the system has answered")
		}
	}
	block := put(t, g, p, 100)
	f.touch(block)

	twice := g.Get(make([]byte, 100), p)
	during = func() {
		if _, v, _ := g.Put(twice, false, p); v != Accepted {
			t.Errorf("Put: %v", v)
		}
	}
	g.asked = time.Time{}
	if _, v, _ := g.Put(twice, false, p); v != Double {
		t.Errorf("Put of what was put back while the system was asked: %v", v)
	}

	g.asked = time.Now().Add(time.Hour) // from now on only to believe something
	for len(g.found) == 0 {             // until the first block leaves the queue
		last := g.Get(make([]byte, 100), p)
		during = func() {
			if _, v, _ := g.Put(last, false, p); v != Double {
				t.Errorf("Put while the system is asked: %v", v)
			}
		}
		before := asked
		if g.Put(last, false, p); len(g.found) == 1 && asked != before+1 {
			t.Errorf("asked %d times", asked-before)
		}
	}
	during = func() {}
	f.touch(put(t, g, p, 100))
	g.asked = time.Time{}
	before := asked
	if g.Sweep(); len(p.found) != 2 || asked != before+2 { // before it looks, and once it has found something
		t.Errorf("found %v; asked %d times", p.found, asked-before)
	}
}

// Of two answers that to the later question stays, also if it comes first.
func TestNewestAnswerStays(t *testing.T) {
	f := newFake(4096)
	g, p := f.guard(), &pool{}
	const tracer = "a tracer is attached"
	g.sys.touches = func() string {
		g.sys.touches = func() string { return tracer }
		g.mu.Lock()
		g.ask()
		g.mu.Unlock()
		return ""
	}
	if g.Get(make([]byte, 100), p) != nil || g.Off() != tracer {
		t.Errorf("off: %q", g.Off())
	}
}

// What has read the whole heap is not taken for a use.
func TestHeapDump(t *testing.T) {
	s, why := thisSystem()
	if why != "" || sanitized != "" {
		t.Skip(why, sanitized)
	}
	g, p := touching(s), &pool{}
	if g.Get(make([]byte, 100), p) == nil {
		t.Skip(g.Off())
	}
	for range 10 {
		put(t, g, p, 5000)
	}
	name := t.TempDir() + "/heap"
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
	if g.Sweep(); len(p.found) != 0 || g.Off() != "" {
		t.Errorf("off: %q; found %v", g.Off(), p.found)
	}
	block := put(t, g, p, 5000)
	block[10]++
	if g.Sweep(); len(p.found) != 1 || p.found[0].Kind != misuse.WriteAfterPut || p.found[0].Offset != 10 {
		t.Errorf("after it, found %v", p.found)
	}
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
	if g.Sweep(); len(p.found) != 1 {
		t.Errorf("after collections, found %v", p.found)
	}
}

// The queue and what is out are bounded, and who leaves the queue is looked at once more.
func TestQueue(t *testing.T) {
	f := newFake(4096)
	g, p := f.guard(), &pool{}
	for range maxBlocks {
		put(t, g, p, 100)
	}
	if g.idle != (amount{fewBytes / 4096, fewBytes}) {
		t.Errorf("%+v in the queue of a small heap", g.idle)
	}
	for range maxBlocks {
		put(t, g, p, 60_000)
	}
	if g.idle.blocks != fewBlocks {
		t.Errorf("%+v in the queue of a small heap", g.idle)
	}
	f.left = liveParts * 512 << 10
	g.Sweep()
	for range maxBlocks {
		put(t, g, p, 100)
	}
	if g.idle != (amount{512 << 10 / 4096, 512 << 10}) {
		t.Errorf("%+v in the queue of a heap of %d bytes", g.idle, f.left)
	}
	f.left = 1 << 40
	g.Sweep()
	first := put(t, g, p, 100)
	f.touch(first)
	for range maxBlocks {
		put(t, g, p, 100)
	}
	if len(g.found) != 1 || len(p.found) != 0 || len(g.queue) != maxBlocks || g.idle != (amount{maxBlocks, maxBlocks * 4096}) || g.Known() != maxBlocks {
		t.Errorf("%d found, %d in the queue, %+v, %d known", len(p.found), len(g.queue), g.idle, g.Known())
	}
	if g.Sweep(); len(p.found) != 1 || len(g.found) != 0 {
		t.Errorf("%d found after a sweep", len(p.found))
	}
	for range 100 {
		put(t, g, p, 60_000)
	}
	if g.idle.bytes > maxBytes || g.idle.bytes < maxBytes-64<<10 {
		t.Errorf("%+v in the queue", g.idle)
	}
	var out [][]byte
	for b := g.Get(make([]byte, 60_000), p); b != nil; b = g.Get(make([]byte, 60_000), p) {
		out = append(out, b)
	}
	if want := maxBytes / (60 << 10); len(out) < want-1 || len(out) > want+9 {
		t.Errorf("%d are out", len(out))
	}
	for _, r := range g.queue {
		r.put = r.put.Add(-queueTime)
	}
	if g.Sweep(); len(g.queue) != 0 || g.idle != (amount{}) || g.Known() != len(out) {
		t.Errorf("%d in the queue, %+v, %d known", len(g.queue), g.idle, g.Known())
	}
	runtime.KeepAlive(out)
}

// The memory of a block that its owner has lost may be another's before ForgetLost: whose slice begins there then is
// not taken for that block's.
func TestLostBlocks(t *testing.T) {
	for _, find := range []bool{true, false} {
		f := newFake(4096)
		g, p := f.guard(), &pool{}
		b := g.Get(make([]byte, 100), p)
		at := addressOf(b)
		if g.find(at) == nil || g.around(at+10) == nil || !g.ForgetLost() {
			t.Error("a block that is out is not found")
		}
		runtime.KeepAlive(b)
		b = nil
		runtime.GC()
		if find && (g.around(at+10) != nil || g.find(at) != nil) {
			t.Errorf("a lost block is found: %d known, %+v out", g.Known(), g.out)
		}
		if g.ForgetLost() || g.Known() != 0 || g.out != (amount{}) {
			t.Errorf("a lost block is not forgotten: %d known, %+v out", g.Known(), g.out)
		}
	}
}

// What may be named in the environment, and what not.
func TestParse(t *testing.T) {
	for text, want := range map[string]Setting{
		"": {}, "off": {}, "touch": {Rate: 10}, "touch=0.5": {Rate: 0.5}, "touch=100": {Rate: 100},
		"fault": {Rate: 10, Fault: true}, "fault=1000": {Rate: 1000, Fault: true},
	} {
		s, ok := Parse(text)
		if s != want || !ok {
			t.Errorf("%q: %+v, %v", text, s, ok)
		}
		if word, _, _ := strings.Cut(text, "="); s.String() != word && text != "" {
			t.Errorf("%q is called %s", text, s)
		}
	}
	for _, text := range []string{"on", "touch=", "touch=0", "touch=-1", "touch=NaN", "touch=Inf", "fault=", "fault=0", "off=1", "=1", "Touch"} {
		if s, ok := Parse(text); s != (Setting{}) || ok {
			t.Errorf("%q: %+v, %v", text, s, ok)
		}
	}
}

// A random one of the next Gets is chosen, once for each time that comes, and none after stop.
func TestTurns(t *testing.T) {
	arms := make(chan bool, 1)
	turns := &Turns{Rate: 1e6, Arm: func() { arms <- true }}
	var chosen [mostTurns]int
	turns.begin()
	for range 1000 {
		i := 0
		for !turns.Mine() {
			if !turns.Due() {
				t.Fatal("nobody was chosen")
			}
			i++
		}
		chosen[i]++
		if turns.Due() && len(arms) == 0 {
			t.Log("the next time has come already")
		}
		<-arms
	}
	for i, n := range chosen { // 1000/64 each: that one is never chosen has a chance of 1 in 100,000
		if n == 0 {
			t.Errorf("number %d was never chosen: %v", i, chosen)
		}
	}
	turns.stop()
	turns.next()
	if turns.Due() || turns.Mine() {
		t.Error("chosen after stop")
	}
}

// The rate is that of late.
func TestRate(t *testing.T) {
	var r rate
	now := time.Now()
	if r.load(now) != 0 {
		t.Error("a rate of nothing")
	}
	for range 1001 {
		r.count(now)
		now = now.Add(100 * time.Millisecond)
	}
	if got := r.load(now); got < 9 || got > 11 {
		t.Errorf("%v a second", got)
	}
	if got := r.load(now.Add(1000 * time.Second)); got > 0.3 {
		t.Errorf("%v a second, long after", got)
	}
}
