package dewpond_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/guardpage"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// A guardedTest is a test with pools that guard blocks.
type guardedTest struct {
	*testing.T
	guard *guardpage.Guard
	pools []dewpond.StatsSource
	mu    sync.Mutex
	found []misuse.Violation
}

func guarding(t *testing.T) *guardedTest { return guardingAs(t, "touch=1000000") }

func guardingAs(t *testing.T, setting string) *guardedTest {
	g, why := dewpond.GuardAs(t, setting)
	switch {
	case offHeap || watched:
		t.Skip("only pools on the heap without checks guard blocks")
	case why != "":
		t.Skip(why)
	}
	return &guardedTest{T: t, guard: g}
}

func (t *guardedTest) pool(o dewpond.BytePoolOptions) *dewpond.BytePool {
	t.Helper()
	o.OnViolation = func(v misuse.Violation) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.found = append(t.found, v)
	}
	p := heapPool(t.T, o)
	t.pools = append(t.pools, p)
	return p
}

// heapPool is newPool for a test that is skipped where pools are off the heap.
func heapPool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	t.Helper()
	if o.Name == "" {
		o.Name = t.Name()
	}
	p, err := makePool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// sweep looks at all idle blocks, and returns what was found since the last one.
func (t *guardedTest) sweep() (found []misuse.Violation) {
	t.guard.Sweep()
	t.mu.Lock()
	defer t.mu.Unlock()
	found, t.found = t.found, nil
	return found
}

// until calls get until what it returns is guarded, and put for the others.
func until[B any](t *guardedTest, get func() B, put func(B), is func(B) bool) B {
	t.Helper()
	for {
		b := get()
		if is(b) {
			return b
		}
		put(b)
		t.goesOn()
	}
}

// goesOn lets the timer run, where there is one processor, and ends the test where nothing is guarded:
// the system shows that with the first sample.
func (t *guardedTest) goesOn() {
	t.Helper()
	if why := t.guard.Off(); why != "" {
		t.Skip(why)
	}
	if t.guard.LosesForGood() { // then not all pools are guarded
		for _, p := range t.pools {
			if why := p.Stats().Guard.Setting; strings.HasPrefix(why, "off (") {
				t.Skip(why)
			}
		}
	}
	runtime.Gosched()
}

// sample gets a guarded block.
func (t *guardedTest) sample(p *dewpond.BytePool, n int) []byte {
	t.Helper()
	return until(t, func() []byte { return p.Get(n) }, p.Put, dewpond.IsGuarded)
}

// at returns the line of these tests that is the innermost of a stack.
func at(stack []uintptr) (line int) {
	for frames := runtime.CallersFrames(stack); ; {
		f, more := frames.Next()
		if strings.HasPrefix(path.Base(f.File), "guard_") && !strings.Contains(f.Function, "until") && !strings.Contains(f.Function, "sample") {
			return f.Line
		}
		if !more {
			return 0
		}
	}
}

func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

var lateSink byte

// Each kind of use after Put is found, with the lines of Get and Put, and the program goes on.
func TestGuardFindsUse(t *testing.T) {
	guarding(t) // or skip: not all systems have pipes
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	uses := []struct {
		name   string
		use    func(t *testing.T, b []byte)
		kind   misuse.Kind
		offset int
	}{
		{"nothing", func(*testing.T, []byte) {}, 0, -1},
		{"read", func(_ *testing.T, b []byte) { lateSink += b[7000] }, misuse.ReadAfterPut, 4096 - guardpage.Marked},
		{"comparison", func(_ *testing.T, b []byte) { lateSink += byte(strings.Compare(string(b[:10]), "POST")) }, misuse.ReadAfterPut, 0},
		{"search in assembly", func(_ *testing.T, b []byte) { lateSink += byte(bytes.IndexByte(b, 7)) }, misuse.ReadAfterPut, 0},
		{"write", func(_ *testing.T, b []byte) { copy(b[100:], "late") }, misuse.WriteAfterPut, 100},
		{"append", func(_ *testing.T, b []byte) { _ = append(b[:5000], 'x', 'y') }, misuse.WriteAfterPut, 5000},
		{"system call that reads", func(t *testing.T, b []byte) {
			if n, err := w.Write(b[:100]); n != 100 || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
			if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
				t.Error(err)
			}
		}, misuse.ReadAfterPut, 0},
		{"system call that writes", func(t *testing.T, b []byte) {
			fmt.Fprint(w, "from a file")
			if n, err := r.Read(b[10:21]); n != 11 || err != nil {
				t.Errorf("Read: %d, %v", n, err)
			}
		}, misuse.WriteAfterPut, 10},
	}
	for _, u := range uses {
		t.Run(u.name, func(t *testing.T) {
			g := guarding(t)
			p := g.pool(dewpond.BytePoolOptions{Name: "used"})
			b := g.sample(p, 8000)
			got := here() - 1
			copy(b, "POST and more")
			p.Put(b)
			put := here() - 1
			if found := g.sweep(); found != nil {
				t.Fatalf("before it was used: %v", found)
			}
			u.use(t, b)
			found := g.sweep()
			if u.offset < 0 {
				if found != nil {
					t.Errorf("found %v", found)
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("found %v", found)
			}
			v := found[0]
			if v.Kind != u.kind || v.Offset != u.offset || v.Pool != "used" || v.Size != 8192 || v.Offence != nil {
				t.Errorf("found %+v", v)
			}
			if g, p := at(v.Got), at(v.Put); g != got || p != put {
				t.Errorf("got at line %d and put at %d, want %d and %d: %v", g, p, got, put, v)
			}
			if u.name == "write" && (v.Written != 4 || string(v.New) != "late") {
				t.Errorf("%d bytes were written: %q", v.Written, v.New)
			}
			if s := p.Stats(); s.Violations != 1 || s.Guard.Samples < 1 || s.Guard.Setting != "touch" {
				t.Errorf("%+v", s)
			}
			if found := g.sweep(); found != nil {
				t.Errorf("found again: %v", found)
			}
		})
	}
}

// What is idle beside a block that is used is not reported, nor what is out.
func TestGuardReportsNoOther(t *testing.T) {
	g := guarding(t)
	p := g.pool(dewpond.BytePoolOptions{})
	var blocks [][]byte
	for range 100 {
		blocks = append(blocks, g.sample(p, 4000))
	}
	out := blocks[:50]
	for _, b := range blocks[50:] {
		p.Put(b)
	}
	for _, b := range out {
		for i := range b {
			b[i]++
		}
	}
	lateSink += blocks[75][3]
	if found := g.sweep(); len(found) != 1 || found[0].Kind != misuse.ReadAfterPut {
		t.Errorf("found %v", found)
	}
	for _, b := range out {
		p.Put(b)
	}
	if found := g.sweep(); found != nil {
		t.Errorf("found %v", found)
	}
}

// A place in the program is reported once.
func TestGuardReportsOnce(t *testing.T) {
	g := guarding(t)
	p := g.pool(dewpond.BytePoolOptions{})
	n := 0
	for range 5 {
		b := g.sample(p, 100)
		p.Put(b)
		lateSink += b[0]
		n += len(g.sweep())
	}
	if s := p.Stats(); n != 1 || s.Violations != 5 {
		t.Errorf("%d were reported of %d", n, s.Violations)
	}
}

// Second Puts, Puts of a part, and Puts to another pool are found with their stacks.
func TestGuardFindsWrongPuts(t *testing.T) {
	g := guarding(t)
	p, other := g.pool(dewpond.BytePoolOptions{Name: "own"}), g.pool(dewpond.BytePoolOptions{Name: "other"})
	for _, c := range []struct {
		kind   misuse.Kind
		misuse func(b []byte)
		counts func() uint64
		idle   bool
		check  func(v misuse.Violation) bool
	}{
		{misuse.DoublePut, p.Put, func() uint64 { return p.Stats().Dropped.Double }, true, func(v misuse.Violation) bool { return v.Put != nil }},
		{misuse.InteriorPut, func(b []byte) { p.Put(b[100:]) }, func() uint64 { return p.Stats().Dropped.Foreign }, false, func(v misuse.Violation) bool { return v.Offset == 100 }},
		{misuse.InteriorPut, func(b []byte) { p.Put(b[256:]) }, func() uint64 { return p.Stats().Dropped.Foreign }, false, func(v misuse.Violation) bool { return v.Offset == 256 }},
		{misuse.ForeignPut, other.Put, func() uint64 { return other.Stats().Dropped.Foreign }, false, func(v misuse.Violation) bool { return v.Holder == "own" && v.Pool == "other" }},
	} {
		b := g.sample(p, 1000)
		if c.idle {
			p.Put(b)
		}
		before := c.counts()
		c.misuse(b)
		found := g.sweep()
		if len(found) != 1 || found[0].Kind != c.kind || found[0].Got == nil || found[0].Offence == nil || !c.check(found[0]) || c.counts() != before+1 {
			t.Errorf("want a %v counted once; found %v", c.kind, found)
		}
		if !c.idle {
			p.Put(b)
		}
		if found := g.sweep(); found != nil {
			t.Errorf("after it: %v", found)
		}
	}
}

// ways are how a caller gets a block and gives it back. Each returns where its block begins.
func ways(p *dewpond.BytePool) map[string]func(n int) (block []byte, put func()) {
	must := func(b []byte, err error) []byte {
		if err != nil {
			panic(err)
		}
		return b
	}
	ctx := context.Background()
	bodies := p.Bodies()
	return map[string]func(n int) ([]byte, func()){
		"Get":        func(n int) ([]byte, func()) { b := p.Get(n); return b, func() { p.Put(b) } },
		"PutWritten": func(n int) ([]byte, func()) { b := p.Get(n); return b, func() { p.PutWritten(b[:n/2]) } },
		"Adopt":      func(n int) ([]byte, func()) { b := p.Get(n); return b, func() { p.Adopt(b) } },
		"Adopt of a cut cap": func(n int) ([]byte, func()) {
			b := p.Get(n)
			return b, func() { p.Adopt(b[:n:n]) }
		},
		"TryGet":     func(n int) ([]byte, func()) { b := must(p.TryGet(n)); return b, func() { p.Put(b) } },
		"GetContext": func(n int) ([]byte, func()) { b := must(p.GetContext(ctx, n)); return b, func() { p.Put(b) } },
		"GetBatch": func(n int) ([]byte, func()) {
			var blocks [1][]byte
			must(nil, p.GetBatch(ctx, blocks[:], n))
			return blocks[0], func() { p.Put(blocks[0]) }
		},
		"Buffer": func(n int) ([]byte, func()) {
			b := p.Buffer()
			b.Grow(n)
			b.WriteString("text")
			return b.Bytes(), b.Release
		},
		"TryBuffer": func(n int) ([]byte, func()) {
			b := p.TryBuffer()
			must(nil, b.TryGrow(n))
			b.WriteByte('t')
			return b.Bytes(), b.Release
		},
		"Buffer.Lease": func(n int) ([]byte, func()) {
			b := p.Buffer()
			b.Grow(n)
			b.WriteString("text")
			l := b.Lease()
			return l.Bytes(), l.Release
		},
		"Lease": func(n int) ([]byte, func()) { l := p.Lease(n); return l.Bytes(), l.Release },
		"LeaseContext and parts": func(n int) ([]byte, func()) {
			l, err := p.LeaseContext(ctx, n)
			must(nil, err)
			part, other := l.Slice(1, n), l.Retain()
			l.Release()
			return other.Bytes(), func() { other.Release(); part.Release() }
		},
		"LeaseOf": func(n int) ([]byte, func()) { l := p.LeaseOf(p.Get(n)); return l.Bytes(), l.Release },
		"Scope": func(n int) ([]byte, func()) {
			s := p.Scope()
			b := s.Get(n)
			s.Get(10)
			return b, s.Close
		},
		"Scope's chunk": func(int) ([]byte, func()) {
			s := p.Scope()
			b, err := s.TryGet(20)
			must(b, err)
			s.Copy([]byte("copy"))
			return b, s.Close
		},
		"Append": func(n int) ([]byte, func()) {
			b := p.Append(p.Get(n/4), make([]byte, n/4)...)
			return b, func() { p.Put(b) }
		},
		"Grow": func(n int) ([]byte, func()) {
			b := p.Grow(p.Get(n/5), n/2)
			return b, func() { p.Put(b) }
		},
		"ReadAll": func(n int) ([]byte, func()) {
			b := must(p.ReadAll(strings.NewReader(strings.Repeat("x", n))))
			return b, func() { p.Put(b) }
		},
		"Bodies": func(n int) ([]byte, func()) {
			b := append(bodies.Get(), "body"...)
			return b, func() { bodies.Put(b) }
		},
		"Bodies with a cut cap": func(n int) ([]byte, func()) {
			b := append(bodies.Get(), "body"...)
			return b, func() { bodies.Put(b[:2:min(100, cap(b))]) }
		},
	}
}

// counts are the Stats that must be as if nothing had been guarded.
func counts(s dewpond.Stats) dewpond.Stats {
	s.Guard.Setting, s.Guard.Samples, s.Guard.Rate, s.Violations, s.OverheadBytes, s.Name = "", 0, 0, 0, 0, ""
	s.OldestIdle, s.Budget.Name = 0, ""
	return s
}

// Each way to get a block is sampled, and each way to give it back takes it: what is read after that is
// found. All counts are those of a pool that is used alike and guards nothing.
func TestGuardedWays(t *testing.T) {
	if offHeap || watched {
		t.Skip("only pools on the heap without checks guard blocks")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a Get does not miss what lies with another processor
	for _, options := range []dewpond.BytePoolOptions{
		{Name: "cleared on Put"},
		{Name: "cleared on Get", Zero: dewpond.ZeroOnGet},
		{Name: "never cleared", Zero: dewpond.ZeroNever},
		{Name: "with a Budget", Budget: dewpond.MustBudget("b", 1<<20)},
		{Name: "with an AllocRate", AllocRate: 1000},
	} {
		for _, n := range []int{70, 9000, 40_000} {
			for name := range ways(heapPool(t, options)) {
				t.Run(fmt.Sprintf("%s/%d/%s", options.Name, n, name), func(t *testing.T) {
					guardedWay(t, options, n, name)
				})
			}
		}
	}
}

func guardedWay(t *testing.T, options dewpond.BytePoolOptions, n int, name string) {
	classes := dewpond.DefaultClasses()
	if options.Budget != nil {
		options.Budget = dewpond.MustBudget("plain", 1<<20)
	}
	plain := heapPool(t, options)
	g := guarding(t)
	if options.Budget != nil {
		options.Budget = dewpond.MustBudget("guarded", 1<<20)
	}
	p := g.pool(options)
	way, same := ways(p)[name], ways(plain)[name]
	for range 2 {
		for done := false; !done; g.goesOn() {
			samples := p.Stats().Guard.Samples
			b, put := way(n)
			_, putSame := same(n)
			done = dewpond.IsGuarded(b)
			if done && (p.Stats().Guard.Samples == samples || uintptr(len(b)) == 0) {
				t.Fatalf("%d bytes at a mark", len(b))
			}
			if b := b[:cap(b)]; options.Zero != dewpond.ZeroNever && done && name == "Get" && len(bytes.Trim(b, "\x00")) > 0 {
				t.Error("it is not zero")
			}
			if name == "Get" && !slices.Contains(classes, cap(b)) {
				t.Errorf("its cap is %d", cap(b))
			}
			put()
			putSame()
			if done {
				got, want := counts(p.Stats()), counts(plain.Stats())
				if strings.HasPrefix(name, "Bodies") { // which size they try is random
					got, want = dewpond.Stats{Gets: got.Gets, Puts: got.Puts, InUseBytes: got.InUseBytes}, dewpond.Stats{Gets: want.Gets, Puts: want.Puts, InUseBytes: want.InUseBytes}
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("counts\n%+v, want\n%+v", got, want)
				}
				if found := g.sweep(); found != nil {
					t.Fatalf("found %v", found)
				}
				lateSink += b[0]
				if found := g.sweep(); len(found) != 1 && p.Stats().Violations < 1 {
					t.Errorf("found %v", found)
				}
			}
		}
	}
}

// Slices of what has no pointers are guarded.
func TestGuardedSlices(t *testing.T) {
	g := guarding(t)
	type point [3]float64
	var found []misuse.Violation
	p := dewpond.MustSlicePool(dewpond.SlicePoolOptions[point]{OnViolation: func(v misuse.Violation) { found = append(found, v) }})
	defer p.Close()
	if s := p.Stats(); s.Guard.Setting != "touch" {
		t.Fatal(s.Guard.Setting)
	}
	is := func(s []point) bool { return guardpage.IsMarked(reflect.ValueOf(s).Pointer()) }
	s := until(g, func() []point { return p.Get(100) }, p.Put, is)
	if len(s) != 100 || cap(s) != cap(dewpond.MustSlicePool(dewpond.SlicePoolOptions[point]{}).Get(100)) {
		t.Errorf("len %d, cap %d", len(s), cap(s))
	}
	p.Put(s)
	g.sweep()
	s[50][1] = 1
	if g.sweep(); len(found) != 1 || found[0].Kind != misuse.WriteAfterPut {
		t.Errorf("found %v", found)
	}
	bodies := p.Bodies()
	found = nil
	s = until(g, func() []point { return append(bodies.Get(), point{}) }, bodies.Put, is)
	bodies.Put(s)
	lateSink += byte(s[0][0])
	if g.sweep(); len(found) != 1 || found[0].Kind != misuse.ReadAfterPut {
		t.Errorf("of a body, found %v", found)
	}
}

// Stats say why a pool has no guarded blocks.
func TestStatsSayWhyNot(t *testing.T) {
	guarding(t)
	pointers := dewpond.MustSlicePool(dewpond.SlicePoolOptions[*int]{})
	counters := dewpond.MustSlicePool(dewpond.SlicePoolOptions[atomic.Int64]{})
	objects := dewpond.MustPool(dewpond.PoolOptions[int]{})
	checked := heapPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckSampled})
	defer pointers.Close()
	defer counters.Close()
	defer objects.Close()
	for _, c := range []struct {
		pool dewpond.StatsSource
		want string
	}{
		{pointers, "off (its elements have pointers)"},
		{counters, "off (goroutines may change its elements while they are idle)"},
		{objects, "off (its objects are not guarded)"},
		{checked, "off (the pool is checked)"},
	} {
		if s := c.pool.Stats(); s.Guard.Setting != c.want {
			t.Errorf("of %s: %s, want %s", c.pool.Name(), s.Guard.Setting, c.want)
		}
	}
}

// Blocks that are lost go, and with them what the pool knows of them.
func TestGuardedLost(t *testing.T) {
	g := guarding(t)
	budget := dewpond.MustBudget("lost", 1<<20)
	p := g.pool(dewpond.BytePoolOptions{Budget: budget})
	for range 20 {
		g.sample(p, 1000)
	}
	for budget.Used() > 64<<10 || g.guard.Known() > 0 { // if they do not go, the test runs into its timeout
		runtime.GC()
		p.Trim()
		runtime.Gosched()
	}
}

// A call in a bubble is not sampled, and starts no timer that would end with the bubble.
func TestGuardInBubble(t *testing.T) {
	g := guarding(t)
	p := g.pool(dewpond.BytePoolOptions{})
	outside := g.sample(p, 100)
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			b := p.Get(100)
			if dewpond.IsGuarded(b) {
				t.Error("sampled in a bubble")
			}
			p.Put(b)
		}
		p.Put(outside)
	})
	lateSink += outside[0] // it was put back in the bubble, so nobody looks
	if found := g.sweep(); found != nil {
		t.Errorf("found %v", found)
	}
	p.Put(g.sample(p, 100))
}

// Trims, Closes and collections while many goroutines are sampled: no report, and no block has two owners.
func TestGuardedByMany(t *testing.T) {
	g := guarding(t)
	p := g.pool(dewpond.BytePoolOptions{IdleTimeout: 100 * time.Millisecond})
	stop := make(chan bool)
	var users, trims sync.WaitGroup
	for i := range 4 {
		users.Add(1)
		go func() {
			defer users.Done()
			for j := range 20_000 {
				b := p.Get(64 << (j % 9))
				b[0] = byte(i + 1)
				if j%16 == 0 {
					runtime.Gosched()
				}
				if b[0] != byte(i+1) {
					t.Error("a block has two owners")
					return
				}
				if j%50 != 0 {
					p.Put(b)
				}
			}
		}()
	}
	trims.Add(1)
	go func() {
		defer trims.Done()
		for {
			select {
			case <-stop:
				return
			default:
				p.Trim()
				runtime.GC()
				g.guard.Sweep()
			}
		}
	}()
	users.Wait()
	close(stop)
	trims.Wait()
	s := p.Stats()
	if found := g.sweep(); found != nil || s.Violations != 0 {
		t.Errorf("found %v", found)
	}
	if s.Guard.Samples == 0 || s.Gets != 80_000 || s.Puts != 80_000-4*400 {
		t.Errorf("%+v", s)
	}
}

// A program that uses one block of ten after its Put: of so many samples a tenth is found, whatever the use is.
// With -dewpond.long there are fifty times as many.
func TestGuardFindsItsShare(t *testing.T) {
	guarding(t) // or skip: not all systems have sockets
	socket := discarding(t)
	for _, u := range []struct {
		name string
		kind misuse.Kind
		use  func(t *testing.T, b []byte)
	}{
		{"read", misuse.ReadAfterPut, func(_ *testing.T, b []byte) { lateSink += b[1] }},
		{"write", misuse.WriteAfterPut, func(_ *testing.T, b []byte) { b[1] = 1 }},
		{"socket write", misuse.ReadAfterPut, func(t *testing.T, b []byte) {
			if n, err := socket.Write(b); n != len(b) || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}},
		{"string comparison", misuse.ReadAfterPut, func(_ *testing.T, b []byte) {
			if string(b[:4]) == "POST" {
				lateSink++
			}
		}},
	} {
		t.Run(u.name, func(t *testing.T) {
			const oneIn = 10
			samples := uint64(2000)
			if *long {
				samples *= 50
			}
			g := guarding(t)
			p := g.pool(dewpond.BytePoolOptions{})
			for i := 0; p.Stats().Guard.Samples < samples; i++ {
				b := p.Get(500)
				p.Put(b)
				if i%oneIn == 0 {
					u.use(t, b)
				}
				g.goesOn()
			}
			if found := g.sweep(); len(found) != 1 || found[0].Kind != u.kind {
				t.Errorf("reported %v, want a %v once", found, u.kind)
			}
			s := p.Stats()
			want := float64(s.Guard.Samples) / oneIn
			deviation := math.Sqrt(want * (1 - 1./oneIn))
			if math.Abs(float64(s.Violations)-want) > 5*deviation {
				t.Errorf("of %d samples of which one in %d was used, %d were found, want %.0f within 5 times %.1f", s.Guard.Samples, oneIn, s.Violations, want, deviation)
			}
			t.Logf("of %d samples %d were found, %+.1f standard deviations from %.0f", s.Guard.Samples, s.Violations, (float64(s.Violations)-want)/deviation, want)
		})
	}
}

// discarding returns a connection whose other end reads all and forgets it.
func discarding(t *testing.T) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer there.Close()
		io.Copy(io.Discard, there)
	}()
	return here
}

// slicePuts are how a slice is given back.
var slicePuts = map[string]func(p *dewpond.SlicePool[int32], s []int32){
	"Put":                (*dewpond.SlicePool[int32]).Put,
	"Adopt":              (*dewpond.SlicePool[int32]).Adopt,
	"Adopt of a cut cap": func(p *dewpond.SlicePool[int32], s []int32) { p.Adopt(s[: 1 : cap(s)-1]) },
	"Bodies":             func(p *dewpond.SlicePool[int32], s []int32) { p.Bodies().Put(s) },
}

// A pool with a Reset guards its slices too. The Reset runs once for each Put, on what the owner has left, and the next
// owner gets what that leaves, guarded or not: nothing is other than in a pool that guards none, its counts included.
func TestGuardedReset(t *testing.T) {
	if offHeap || watched {
		t.Skip("only pools on the heap without checks guard blocks")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a Get does not miss what lies with another processor
	for _, setting := range []string{"touch=1000000", "fault=1000000"} {
		for _, bound := range []string{"unbounded", "Budget"} {
			for name, put := range slicePuts {
				t.Run(setting[:5]+"/"+bound+"/"+name, func(t *testing.T) { guardedReset(t, setting, bound, put) })
			}
		}
	}
}

func guardedReset(t *testing.T, setting, bound string, put func(p *dewpond.SlicePool[int32], s []int32)) {
	var written int32 // what owners leave in all elements
	resets := 0
	options := func(name string) dewpond.SlicePoolOptions[int32] {
		o := dewpond.SlicePoolOptions[int32]{Name: name, Classes: []int{64, 100, 4000, 5000}, OnViolation: func(misuse.Violation) {}, Reset: func(s []int32) {
			resets++
			for i, v := range s {
				if v != written {
					t.Fatalf("Reset finds %d at %d of %d, and not the %d that was put", v, i, len(s), written)
				}
				s[i] = -1
			}
		}}
		if bound == "Budget" {
			o.Budget = dewpond.MustBudget(name, 1<<20)
		}
		return o
	}
	plain := dewpond.MustSlicePool(options("plain"))
	defer plain.Close()
	g := guardingAs(t, setting)
	p := dewpond.MustSlicePool(options("guarded"))
	defer p.Close()
	g.pools = append(g.pools, p)
	for done := 0; done < 4; g.goesOn() {
		n := []int{99, 5000}[done%2]
		s, same := p.Get(n), plain.Get(n)
		all := s[:cap(s)]
		for i, v := range all {
			if v != same[:cap(same)][i] || v != 0 && v != -1 {
				t.Fatalf("a new owner finds %d at %d of %d, and in a pool that guards none %d", v, i, len(all), same[:cap(same)][i])
			}
		}
		written++
		for i := range all {
			all[i], same[:cap(same)][i] = written, written
		}
		resets = 0
		if v := explained(t, func() { put(p, s) }); v != nil {
			t.Fatalf("its Put: %v", v)
		}
		if put(plain, same); resets != 2 {
			t.Fatalf("two Puts have run Reset %d times", resets)
		}
		if got, want := counts(p.Stats()), counts(plain.Stats()); !reflect.DeepEqual(got, want) {
			t.Fatalf("counts\n%+v, want\n%+v", got, want)
		}
		if !guardpage.IsMarked(reflect.ValueOf(all).Pointer()) {
			continue
		}
		done++
		before := p.Stats().Violations
		if g.sweep(); p.Stats().Violations != before {
			t.Fatal("its Put counts as a use after it")
		}
		v := explained(t, func() { all[50] = 1 })
		if g.sweep(); p.Stats().Violations != before+1 || (v != nil) != (setting[:5] == "fault") {
			t.Errorf("a write after Put is not found: %v", v)
		}
	}
}

// A Reset that panics does so to whoever puts the slice back. The pool does not have it then, and goes on.
func TestGuardedResetPanics(t *testing.T) {
	g := guarding(t)
	panics := false
	var found []misuse.Violation
	p := dewpond.MustSlicePool(dewpond.SlicePoolOptions[int32]{Reset: func([]int32) {
		if panics {
			panic("from Reset")
		}
	}, OnViolation: func(v misuse.Violation) { found = append(found, v) }})
	defer p.Close()
	is := func(s []int32) bool { return guardpage.IsMarked(reflect.ValueOf(s).Pointer()) }
	s := until(g, func() []int32 { return p.Get(1000) }, p.Put, is)
	func() {
		defer func() {
			if r := recover(); r != "from Reset" {
				t.Errorf("recovered %v", r)
			}
		}()
		panics = true
		p.Put(s)
	}()
	panics = false
	if g.sweep(); found != nil {
		t.Errorf("found %v", found)
	}
	lateSink += byte(s[0])
	if g.sweep(); len(found) != 1 || found[0].Kind != misuse.ReadAfterPut {
		t.Errorf("after a read, found %v", found)
	}
	p.Put(until(g, func() []int32 { return p.Get(1000) }, p.Put, is))
}

// Where all classes are multiples of 64, guarded blocks begin at such as the others do, and are found as elsewhere.
func TestGuardedAlignment(t *testing.T) {
	g := guarding(t)
	classes := []int{64, 192, 320, 576, 1024, 9472, 64 << 10}
	for _, size := range classes {
		p := g.pool(dewpond.BytePoolOptions{Classes: classes})
		var plain [][]byte
		for range 100 {
			b := p.Get(size)
			if at := addressOf(b); at%64 != 0 || at%128 == 64 != dewpond.IsGuarded(b) || cap(b) != size {
				t.Fatalf("a block of %d bytes is at %#x, guarded: %t", cap(b), at, dewpond.IsGuarded(b))
			}
			plain = append(plain, b)
		}
		for _, b := range plain {
			p.Put(b)
		}
		b := g.sample(p, size)
		p.Put(b)
		if found := g.sweep(); found != nil {
			t.Fatalf("found %v", found)
		}
		b[size-1] = 1
		if found := g.sweep(); len(found) != 1 || found[0].Kind != misuse.WriteAfterPut || found[0].Offset != size-1 || found[0].Size != size {
			t.Errorf("after a write at the end of %d bytes, found %v", size, found)
		}
	}
	p, other := g.pool(dewpond.BytePoolOptions{Name: "aligned", Classes: classes}), g.pool(dewpond.BytePoolOptions{Name: "other"})
	b := g.sample(p, 1024)
	p.Put(b)
	p.Put(b)
	if found := g.sweep(); len(found) != 1 || found[0].Kind != misuse.DoublePut {
		t.Errorf("after a second Put, found %v", found)
	}
	b = g.sample(p, 9472)
	p.Put(b[guardpage.Wide:])
	if found := g.sweep(); len(found) != 1 || found[0].Kind != misuse.InteriorPut || found[0].Offset != guardpage.Wide {
		t.Errorf("after a Put of a part, found %v", found)
	}
	p.Put(b)
	b = g.sample(other, 1024)
	p.Put(b)
	if found := g.sweep(); len(found) != 1 || found[0].Kind != misuse.ForeignPut || found[0].Holder != "other" {
		t.Errorf("after a Put of another pool's, found %v", found)
	}
	other.Put(b)
}

// explained returns the Violation that a fault in f becomes, or nil if it does not fault.
func explained(t *testing.T, f func()) (v *misuse.Violation) {
	t.Helper()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case misuse.Violation:
			v = &r
		default:
			panic(r)
		}
	}()
	defer offheap.ExplainFaults()()
	f()
	return nil
}

// With DEWPOND_GUARD=fault who touches an idle block faults, with its own stack and those of Get and Put, and
// nobody else does.
func TestGuardFaults(t *testing.T) {
	g := guardingAs(t, "fault=1000000")
	p := g.pool(dewpond.BytePoolOptions{Name: "faulting"})
	for _, u := range []struct {
		name   string
		use    func(b []byte)
		offset int
	}{
		{"read", func(b []byte) { lateSink += b[7000] }, 7000},
		{"write", func(b []byte) { b[100]++ }, 100},
		{"in assembly", func(b []byte) { clear(b[10:]) }, 10},
	} {
		b := g.sample(p, 8000)
		got := here() - 1
		beside := g.sample(p, 8000)
		if v := explained(t, func() { u.use(b) }); v != nil {
			t.Errorf("%s: before its Put: %v", u.name, v)
		}
		p.Put(b)
		put := here() - 1
		runtime.GC()
		var touch int
		v := explained(t, func() {
			touch = here() + 1
			u.use(b)
		})
		if v == nil || v.Kind != misuse.UseAfterPut || v.Pool != "faulting" || v.Size != 8192 {
			t.Errorf("%s: %+v", u.name, v)
			continue
		}
		if u.name != "in assembly" && v.Offset != u.offset { // which may begin at its end
			t.Errorf("%s: offset %d", u.name, v.Offset)
		}
		if g, p := at(v.Got), at(v.Put); g != got || p != put || !passes(v.Offence, touch) {
			t.Errorf("%s: got at line %d and put at %d, want %d and %d, and a touch at %d: %v", u.name, g, p, got, put, touch, v)
		}
		if found := g.sweep(); len(found) != 1 || found[0].Kind != misuse.UseAfterPut {
			t.Errorf("%s: reported %v", u.name, found)
		}
		if v := explained(t, func() { clear(beside) }); v != nil {
			t.Errorf("%s: a block that is out: %v", u.name, v)
		}
		p.Put(beside)
	}
	if s := p.Stats(); s.Guard.Setting != "fault" || s.Violations != 3 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// passes reports whether a stack has a line of this file.
func passes(stack []uintptr, line int) bool {
	for frames := runtime.CallersFrames(stack); ; {
		f, more := frames.Next()
		if f.Line == line {
			return true
		}
		if !more {
			return false
		}
	}
}

// A system call with such a block fails, and there is no report: nothing of the program faults.
func TestGuardFaultsNoSystemCall(t *testing.T) {
	g := guardingAs(t, "fault=1000000")
	p := g.pool(dewpond.BytePoolOptions{})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	b := g.sample(p, 8000)
	p.Put(b)
	fails := func(err error) bool { return err != nil && strings.Contains(err.Error(), "bad address") } // EFAULT
	if n, err := w.Write(b); n != 0 || !fails(err) {
		t.Errorf("Write: %d, %v", n, err)
	}
	fmt.Fprint(w, "text")
	if n, err := r.Read(b); n > 0 || !fails(err) {
		t.Errorf("Read: %d, %v", n, err)
	}
	if found := g.sweep(); found != nil {
		t.Errorf("found %v", found)
	}
}

// No way to give a block back touches it after that.
func TestGuardFaultsInNoWay(t *testing.T) {
	if offHeap || watched {
		t.Skip("only pools on the heap without checks guard blocks")
	}
	for name := range ways(heapPool(t, dewpond.BytePoolOptions{})) {
		t.Run(name, func(t *testing.T) {
			g := guardingAs(t, "fault=1000000")
			p := g.pool(dewpond.BytePoolOptions{})
			way := ways(p)[name]
			for done := false; !done; g.goesOn() {
				b, put := way(5000)
				done = dewpond.IsGuarded(b)
				if v := explained(t, put); v != nil {
					t.Fatalf("its Put: %v", v)
				}
				if done {
					if v := explained(t, func() { lateSink += b[0] }); v == nil {
						t.Error("a read after it is not seen")
					}
				}
			}
		})
	}
}

// BenchmarkGuarded holds a pool of which so many Gets a second are sampled beside one that guards
// nothing: ratio is a Get, touch and Put of the one to one of the other. control is the same of two that
// guard nothing, so what ratio is beyond it is what guarding costs. All three are measured in turn.
func BenchmarkGuarded(b *testing.B) {
	for _, rate := range []float64{10, 100, 1000} {
		for _, size := range []int{128, 8192} {
			b.Run(fmt.Sprintf("rate=%v/size=%s", rate, sizeName(size)), func(b *testing.B) {
				o := dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}
				var pools [3]*dewpond.BytePool
				for i := range 2 {
					pools[i] = newPool(b, o)
				}
				if _, why := dewpond.GuardAs(b, fmt.Sprint("touch=", rate)); why != "" {
					b.Skip(why)
				}
				pools[2] = newPool(b, o)
				const round = 20_000
				for _, p := range pools {
					ourLoop(p, size, 1000)
				}
				var controls, ratios []float64
				for n := 0; b.Loop(); n++ {
					var took [3]float64
					for i := range pools {
						i = (i + n) % 3
						start := time.Now()
						ourLoop(pools[i], size, round)
						took[i] = float64(time.Since(start))
					}
					controls, ratios = append(controls, took[1]/took[0]), append(ratios, took[2]/took[0])
				}
				s := pools[2].Stats()
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(middle(controls), "control")
				b.ReportMetric(middle(ratios), "ratio")
				b.ReportMetric(s.Guard.Rate, "samples/s")
			})
		}
	}
}
