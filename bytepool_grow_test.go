package dewpond_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

func TestGrow(t *testing.T) {
	leavesOut(t, "the block of a Grow that panics")
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Get(100)
	copy(b, "hello")
	if same := p.Grow(b[:5], 123); &same[0] != &b[0] || len(same) != 5 {
		t.Error("Grow moved a slice that had room")
	}
	grown := p.Grow(b[:5], 124)
	if string(grown) != "hello" || cap(grown) != 144 {
		t.Errorf("Grow: %q with cap %d, want hello with cap 144", grown, cap(grown))
	}
	if s := p.Stats(); s.IdleBytes != 128 || s.InUseBytes != 144 {
		t.Errorf("IdleBytes %d, InUseBytes %d: the old block should be back", s.IdleBytes, s.InUseBytes)
	}
	if b := p.Grow(nil, 10); len(b) != 0 || cap(b) != 64 {
		t.Errorf("Grow(nil, 10): len %d, cap %d", len(b), cap(b))
	}
	defer func() {
		if recover() == nil {
			t.Error("Grow past the largest int did not panic")
		}
	}()
	p.Grow(grown, math.MaxInt)
}

// Append against append, from nil to past the largest class, with x from
// within b as well.
func TestAppend(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 256, 4096}})
	var got, want []byte
	for i := range 400 {
		x := bytes.Repeat([]byte{byte(i)}, i%61)
		if i%7 == 0 && len(got) > 10 {
			x = got[3:10]
		}
		want = append(want, append([]byte(nil), x...)...)
		got = p.Append(got, x...)
		if !bytes.Equal(got, want) {
			t.Fatalf("after %d Appends: %d bytes differ from append's %d", i, len(got), len(want))
		}
	}
	s := p.Stats()
	if s.InUseBytes != 0 || s.Oversize == 0 {
		t.Errorf("InUseBytes %d, Oversize %d: the blocks on the way should be back", s.InUseBytes, s.Oversize)
	}
	if s.Oversize > 10 {
		t.Errorf("%d allocations past the largest class: Append must leave room there", s.Oversize)
	}
}

// What is adopted becomes a block of the largest class that fits, and was never in use.
func TestAdopt(t *testing.T) {
	notWatched(t, countsMiss)
	onlyOnHeap(t, "off the heap nothing is adopted")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a Get finds what lies with its own processor
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever} {
		for _, tt := range []struct{ capacity, class int }{
			{64, 64}, {79, 64}, {80, 80}, {127, 80}, {1023, 512}, {1024, 1024}, {1025, 1024}, {2047, 1024}, {100_000, 64 << 10}, {128 << 10, 128 << 10},
		} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 80, 512, 1024, 64 << 10, 128 << 10}, Zero: zero})
			leave := p.Get(1)
			b := bytes.Repeat([]byte{7}, tt.capacity)
			b = b[: len(b)/2 : len(b)]
			p.Adopt(b)
			s := p.Stats()
			if s.Adopted != 1 || s.Puts != 1 || s.Dropped.Foreign != 0 || s.IdleBytes != int64(tt.class) || s.InUseBytes != 64 {
				t.Errorf("%d bytes: %+v", tt.capacity, s)
			}
			got := p.Get(tt.class)
			if &got[0] != &b[:1][0] && (p.Stats().Guard.Samples == 0 || !dewpond.IsGuarded(got)) || cap(got) != tt.class {
				t.Errorf("%d bytes: the next Get returned another block, of %d bytes", tt.capacity, cap(got))
			}
			if got[0] == 7 != (zero == dewpond.ZeroNever) || got[tt.class-1] != got[0] {
				t.Errorf("%d bytes: an adopted block has %d in it", tt.capacity, got[0])
			}
			if s := p.Stats(); s.Hits != 1 || s.InUseBytes != 64+int64(tt.class) {
				t.Errorf("%d bytes, out again: %+v", tt.capacity, s)
			}
			p.Put(got)
			p.Put(leave)
			if s := p.Stats(); s.InUseBytes != 0 || s.Puts != 3 || s.Sub(dewpond.Stats{Adopted: 1}).Adopted != 0 {
				t.Errorf("%d bytes, put back: %+v", tt.capacity, s)
			}
		}
	}
}

// It refuses what cannot become a block, which is no violation.
func TestAdoptRefuses(t *testing.T) {
	for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
		for name, tt := range map[string]struct {
			b    []byte
			want dewpond.Stats
		}{
			"nil":            {nil, dewpond.Stats{}},
			"no cap":         {[]byte{}, dewpond.Stats{}},
			"below":          {make([]byte, 63), dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
			"above":          {make([]byte, 128<<10+1), dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1}}},
			"mostly unused":  {make([]byte, 2049), dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
			"at an odd byte": {make([]byte, 1025)[1:], dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024, 64 << 10, 128 << 10}, Check: check, OnViolation: func(v misuse.Violation) {
				if !offHeap { // where it is Put
					t.Error(name, v)
				}
			}})
			p.Adopt(tt.b)
			expect(t, p, tt.want)
			if s := p.Stats(); s.Adopted != 0 || s.Puts != tt.want.Dropped.Foreign+tt.want.Dropped.Oversize {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// A pool with an Allocator adopts nothing. Its own blocks it takes back, as Put does.
func TestAdoptWithASource(t *testing.T) {
	notWatched(t, putsForeign)
	p := newPool(t, dewpond.BytePoolOptions{Memory: newFakeSource()})
	b := p.Get(1000)
	p.Adopt(make([]byte, 1024))
	p.Adopt(append(b[:1024], 1))
	expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 2}, InUseBytes: 1024})
	p.Adopt(b)
	expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 2}, IdleBytes: 1024})
	if text := panics(func() { p.Bodies() }); !strings.Contains(text, "not on the Go heap") {
		t.Errorf("BodyPool panics with %q", text)
	}
}

// After Close and past the bounds it is dropped, as a Put is.
func TestAdoptIsDropped(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	p := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 1})
	p.Adopt(make([]byte, 1024))
	p.Adopt(make([]byte, 1024))
	expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Full: 1}, IdleBytes: 1024})
	p.Close()
	p.Adopt(make([]byte, 1024))
	expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Full: 1, Closed: 1}})
}

// One who waits gets what is adopted.
func TestAdoptServesAWaiter(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	synctest.Test(t, func(t *testing.T) { // in which AllocRate allows no more
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1, MaxIdleBytes: dewpond.NoIdle})
		first := must(p.TryGet(1024))
		got := make(chan []byte, 1)
		go func() { got <- must(p.GetContext(t.Context(), 1024)) }()
		synctest.Wait()
		if !dewpond.Waiting(p) {
			t.Error("a call past AllocRate does not wait")
		}
		b := make([]byte, 1100)
		start := time.Now()
		p.Adopt(b)
		second := <-got
		if &second[0] != &b[0] || time.Since(start) != 0 {
			t.Errorf("the waiter got another block, after %v", time.Since(start))
		}
		p.Put(first)
		p.Put(second)
		if s := p.Stats(); s.InUseBytes != 0 || s.Puts != 3 || s.Adopted != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// With a Budget what is adopted is charged, or dropped where there is no room for it.
func TestAdoptWithABudget(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a Get finds what lies with its own processor
	for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
		budget := dewpond.MustBudget("", 4096)
		p := newPool(t, dewpond.BytePoolOptions{Budget: budget, Check: check, IdleTimeout: dewpond.NoDecay})
		own := must(p.TryGet(1024))
		p.Adopt(make([]byte, 1100)) // cut to 1024
		p.Adopt(make([]byte, 2000)) // cut to 1536
		p.Adopt(make([]byte, 1024)) // no room
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Full: 1}, IdleBytes: 1024 + 1536, InUseBytes: 1024})
		if budget.Used() != 1024+1024+1536 || p.Stats().Adopted != 2 {
			t.Errorf("%d bytes are charged: %+v", budget.Used(), p.Stats())
		}

		// The pool takes back what it has adopted, and knows its own.
		adopted := p.Get(1500)
		p.Put(adopted)
		p.Adopt(own)
		expect(t, p, dewpond.Stats{Dropped: dewpond.DropStats{Full: 1}, IdleBytes: 2*1024 + 1536})
		if s := p.Stats(); s.Adopted != 2 || s.Misses != 1 {
			t.Errorf("%+v", s)
		}
		if released := p.Trim(); released != 2*1024+1536 || budget.Used() != 0 {
			t.Errorf("Trim released %d bytes, %d are charged", released, budget.Used())
		}
	}
}

// What is adopted and then lost is charged until the collector finds it, also if it does
// not begin where its memory does. It is adopted once.
func TestAdoptedBlocksAreLost(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is lost is charged until the test's own collection
	budget := dewpond.MustBudget("", 1024+2048)      // so that TryGet finds them in whatever shard they lie
	p := newPool(t, dewpond.BytePoolOptions{Budget: budget, MaxIdleBytes: 1 << 20, IdleTimeout: dewpond.NoDecay})
	adopt := func() {
		b, inside := make([]byte, 1100), make([]byte, 4096)[1024:3100:3100]
		p.Adopt(b)
		p.Adopt(inside)
		p.Adopt(b)
		p.Adopt(inside[:2048:2060])
	}
	adopt()
	must(p.TryGet(1024))
	must(p.TryGet(2048))
	if s := p.Stats(); s.Hits != 2 || s.Adopted != 2 || s.Dropped.Foreign != 2 || budget.Used() != 1024+2048 {
		t.Errorf("%d bytes are charged: %+v", budget.Used(), s)
	}
	for budget.Used() != 0 {
		runtime.GC() // a block that stays charged ends in the test's timeout
	}
	adopt()
	p.Trim()
	if budget.Used() != 0 {
		t.Errorf("%d bytes are charged after Trim", budget.Used())
	}
}

// A body whose cap was cut is the pool's own block where the pool knows its blocks.
func TestBodiesThatAreClipped(t *testing.T) {
	onlyOnHeap(t, "off the heap there is no BodyPool")
	for name, o := range map[string]dewpond.BytePoolOptions{
		"Budget":   {Budget: dewpond.MustBudget("", 1<<20)},
		"CheckAll": {Check: dewpond.CheckAll},
	} {
		const n = 1000
		p := newPool(t, o)
		h := p.Bodies()
		for range n {
			h.Put(slices.Clip(append(h.Get(), make([]byte, 900)...)))
		}
		if s := p.Stats(); s.Misses > n/2 || s.Dropped.Foreign+s.Dropped.Full > 0 || s.InUseBytes != 0 || o.Budget != nil && o.Budget.Used() > s.IdleBytes+4096 {
			t.Errorf("%s: %v; %v", name, s, o.Budget)
		}
	}
}

// A fresh slice that lies where a lost, adopted block lay is not taken for that block, although
// the collector has not told of it yet.
func TestAdoptWhereALostBlockLay(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	notWatched(t, misuses)
	budget := dewpond.MustBudget("", 1<<30)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, Check: dewpond.CheckOff})
	// The program's cleanups run a few at a time, so this one holds up the pool's for a while.
	type big struct{ _ [64]*byte }
	release, started := make(chan bool), make(chan bool, 64)
	for range 64 {
		runtime.AddCleanup(new(big), func(int) { started <- true; <-release }, 0)
	}
	for len(started) == 0 {
		runtime.GC()
	}
	lost := map[uintptr]bool{}
	for range 1000 {
		p.Adopt(make([]byte, 1024))
		b := must(p.TryGet(1024))
		lost[addressOf(b)] = true
	}
	p.Trim()
	runtime.GC()
	runtime.GC()
	var held [][]byte
	again := 0
	for range 20_000 {
		b := make([]byte, 1024)
		if held = append(held, b); lost[addressOf(b)] {
			again++
		}
		p.Adopt(b)
	}
	if s := p.Stats(); s.Adopted != 21_000 {
		t.Errorf("%d slices of 21000 were adopted; %d lay where a lost block lay", s.Adopted, again)
	}
	close(release)
	for budget.Used() > p.Stats().IdleBytes { // the cleanups take off what is lost, and nothing else
		runtime.GC()
	}
	if used, idle := budget.Used(), p.Stats().IdleBytes; used != idle {
		t.Errorf("%d bytes are idle, and %d charged", idle, used)
	}
	for range len(held) {
		p.Put(must(p.TryGet(1024)))
	}
	if s := p.Stats(); s.Dropped.Foreign != 0 {
		t.Errorf("%d Puts of blocks that TryGet had returned were refused", s.Dropped.Foreign)
	}
	t.Logf("%d lay where a lost block lay", again)
}

// With CheckAll whoever still uses what was adopted is found, and what belongs to a block
// of the pool is not adopted.
func TestAdoptIsChecked(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	for _, tt := range []struct {
		name  string
		want  string
		stats dewpond.Stats
		do    func(p *dewpond.BytePool)
	}{
		{"clean", "", dewpond.Stats{}, func(p *dewpond.BytePool) {
			b := p.Get(1024)
			p.Adopt(append(b, 1))
			p.Put(b)
			p.Trim()
		}},
		{"twice", "double Put: 1024", dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}}, func(p *dewpond.BytePool) {
			b := make([]byte, 1100)
			p.Adopt(b)
			p.Adopt(b)
			p.Trim()
		}},
		{"Put of what was adopted", "double Put: 1024", dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}}, func(p *dewpond.BytePool) {
			b := make([]byte, 1024)
			p.Adopt(b)
			p.Put(b)
			p.Trim()
		}},
		{"an own block twice", "double Put: 1024", dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}}, func(p *dewpond.BytePool) {
			b := p.Get(1024)
			p.Adopt(b)
			p.Adopt(b)
			p.Trim()
		}},
		{"written to later", "write after Put: 1024", dewpond.Stats{}, func(p *dewpond.BytePool) {
			b := make([]byte, 1100)
			p.Adopt(b)
			b[1023] = 1
			p.Trim()
		}},
		{"the inside of a block", "Put of the inside of a block: 4096", dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}, func(p *dewpond.BytePool) {
			b := p.Get(4096)
			p.Adopt(b[1024:2100:2100])
			p.Put(b)
			p.Trim()
		}},
		{"a block with its cap cut", "", dewpond.Stats{}, func(p *dewpond.BytePool) {
			b := p.Get(4096)
			p.Adopt(b[:10:3000])
			p.Trim()
		}},
		{"a block with its cap cut, twice", "double Put: 4096", dewpond.Stats{Dropped: dewpond.DropStats{Double: 1}}, func(p *dewpond.BytePool) {
			b := p.Get(4096)
			p.Adopt(b[:10:3000])
			p.Put(b)
			p.Trim()
		}},
		{"what overlaps an adopted block", "Put of the inside of a block: 1024", dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}, func(p *dewpond.BytePool) {
			b := make([]byte, 4096)
			p.Adopt(b[:1024:1024])
			p.Adopt(b[512:])
			p.Trim()
		}},
	} {
		var found []string
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay, Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) {
			text, _, _ := strings.Cut(v.String(), " bytes")
			found = append(found, strings.TrimPrefix(text, "dewpond: "))
		}})
		tt.do(p)
		if got := fmt.Sprint(found); got != fmt.Sprint([]string{tt.want}) && (tt.want != "" || found != nil) {
			t.Errorf("%s: found %q, want %q", tt.name, found, tt.want)
		}
		expect(t, p, tt.stats)
	}
}

// A pool with CheckSampled, too, knows the blocks that it watches.
func TestAdoptSampled(t *testing.T) {
	onlyOnHeap(t, "off the heap nothing is adopted")
	t.Setenv("DEWPOND_CHECK", "sampled=1/2")
	// Without decay no collection has a block in hand while Trim looks for it.
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay, Check: dewpond.CheckSampled, OnViolation: func(v misuse.Violation) { t.Error(v) }})
	h := p.Bodies()
	for range 500 {
		b := p.Get(1024)
		p.Adopt(append(b, 1))
		p.Put(b)
		h.Put(append(h.Get(), make([]byte, 700)...))
		h.Put(append(h.Get(), make([]byte, 10_000)...))
	}
	p.Trim()
	if s := p.Stats(); s.InUseBytes != 0 || s.IdleBytes != 0 || s.Gets != 1500 || s.Puts != 2000 {
		t.Errorf("%+v", s)
	}
}

// What Adopt cuts stays alive, and counts: the bound holds for the whole.
func TestAdoptCountsWhatItCuts(t *testing.T) {
	notWatched(t, "a part of the bound is the quarantine's")
	onlyOnHeap(t, "off the heap nothing is adopted")
	const most = 1 << 20
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 4096}, MaxIdleBytes: most, Zero: dewpond.ZeroNever})
	for range most / 1024 {
		p.Adopt(make([]byte, 1024))
	}
	whole := p.Stats().IdleBytes
	if whole < most/2 || p.Trim() != whole {
		t.Errorf("of blocks that were not cut %d bytes of %d are idle", whole, most)
	}
	// On its way to another processor this goroutine may have left places behind.
	for before := p.Stats().Dropped.Full; p.Stats().Dropped.Full == before; { // else the test runs into its timeout
		p.Adopt(make([]byte, 2048))
	}
	if s := p.Stats(); s.IdleBytes > most/2 || s.IdleBytes < most/4 {
		t.Errorf("of blocks that were cut in half %d bytes are idle: with the other half the bound is %d", s.IdleBytes, most)
	}
}

// A plainReader hides every method of a reader but Read.
type plainReader struct{ io.Reader }

// A sizedReader says how much it has, which need not be true.
type sizedReader struct {
	io.Reader
	n int
}

func (r sizedReader) Len() int { return r.n }

// ReadAll returns what io.ReadAll does, from readers of all kinds, and the blocks on the
// way are back.
func TestReadAll(t *testing.T) {
	failed := errors.New("the line is cut")
	for _, n := range []int{0, 1, 63, 64, 511, 512, 513, 1024, 5000, 65536, 65537, 300_000} {
		text := strings.Repeat("abcdefg", n/7+1)[:n]
		for name, reader := range map[string]func() io.Reader{
			"in memory":     func() io.Reader { return strings.NewReader(text) },
			"of no length":  func() io.Reader { return plainReader{strings.NewReader(text)} },
			"halves":        func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) },
			"data with EOF": func() io.Reader { return iotest.DataErrReader(strings.NewReader(text)) },
			"fails":         func() io.Reader { return io.MultiReader(strings.NewReader(text), iotest.ErrReader(failed)) },
			"says less":     func() io.Reader { return sizedReader{strings.NewReader(text), n / 2} },
			"says more":     func() io.Reader { return sizedReader{strings.NewReader(text), 3 * n} },
			"says nonsense": func() io.Reader { return sizedReader{strings.NewReader(text), -7} },
			"says too much": func() io.Reader { return sizedReader{strings.NewReader(text), math.MaxInt} },
		} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 512, 1024, 64 << 10}})
			want, wantErr := io.ReadAll(reader())
			got, err := p.ReadAll(reader())
			if !bytes.Equal(got, want) || err != wantErr || got == nil {
				t.Errorf("%d bytes, %s: %d bytes, %v", n, name, len(got), err)
			}
			if s := p.Stats(); s.Gets != s.Puts+1 || s.Dropped.Foreign != 0 {
				t.Errorf("%d bytes, %s: %+v", n, name, s)
			}
			p.Put(got)
			if s := p.Stats(); s.Gets != s.Puts || s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
				t.Errorf("%d bytes, %s, put back: %+v", n, name, s)
			}
			_ = p.Close() // 108 pools off the heap want more address space than 32 bits have
		}
	}
}

// One block serves a reader that knows how much it has, and no other.
func TestReadAllTakesOneBlock(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	text := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct {
		r    io.Reader
		gets uint64
	}{
		"strings.Reader": {strings.NewReader(text), 1},
		"bytes.Reader":   {bytes.NewReader([]byte(text)), 1},
		"bytes.Buffer":   {bytes.NewBufferString(text), 1},
		"unknown":        {plainReader{strings.NewReader(text)}, 9}, // 512 B doubled until it holds 100,000
		"LimitedReader":  {io.LimitReader(strings.NewReader("short"), 1<<40), 1},
	} {
		before := p.Stats().Gets
		b := must(p.ReadAll(tt.r))
		if gets := p.Stats().Gets - before; gets != tt.gets {
			t.Errorf("%s: %d blocks, want %d", name, gets, tt.gets)
		}
		if name == "LimitedReader" && cap(b) != 512 {
			t.Errorf("%s: a block of %d bytes", name, cap(b))
		}
		p.Put(b)
	}
}

// What fills the largest class is a block, whether the reader knows that or not. One byte more is
// not pooled.
func TestReadAllOfLargestClass(t *testing.T) {
	const largest = 64 << 10
	text := strings.Repeat("abcdefg", largest/7+1)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"in memory":     func(r io.Reader) io.Reader { return r },
		"of no length":  func(r io.Reader) io.Reader { return plainReader{r} },
		"data with EOF": iotest.DataErrReader,
	} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, largest}})
		for more := range 2 {
			want := text[:largest+more]
			b := must(p.ReadAll(wrap(strings.NewReader(want))))
			if string(b) != want {
				t.Errorf("%s, %d bytes: %d bytes", name, len(want), len(b))
			}
			p.Put(b)
			if s := p.Stats(); s.Dropped.Oversize != uint64(more) || s.InUseBytes != 0 {
				t.Errorf("%s, %d bytes: %d are too large, %d bytes in use", name, len(want), s.Dropped.Oversize, s.InUseBytes)
			}
		}
	}
}

// The block goes back if the reader panics, or breaks the rules of a Reader.
func TestReadAllPanics(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	for name, r := range map[string]io.Reader{
		"Read returned -1 for": readerFunc(func([]byte) (int, error) { return -1, nil }),
		"Read returned 513":    readerFunc(func(b []byte) (int, error) { return len(b) + 1, nil }),
		"on its own":           readerFunc(func([]byte) (int, error) { panic("on its own") }),
	} {
		if text := panics(func() { p.ReadAll(r) }); !strings.Contains(text, name) {
			t.Errorf("%s: panics with %q", name, text)
		}
		if s := p.Stats(); s.InUseBytes != 0 {
			t.Errorf("%s: %d bytes are in use", name, s.InUseBytes)
		}
	}
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A Buffer takes one block for a reader that knows how much it has, whatever the Buffer
// holds, and whether io.Copy asks the reader or the Buffer.
func TestBufferTakesOneBlockToReadFrom(t *testing.T) {
	text := strings.Repeat("dew ", 20_000)
	for name, r := range map[string]func() io.Reader{
		"WriterTo":     func() io.Reader { return strings.NewReader(text) },
		"bytes.Buffer": func() io.Reader { return bytes.NewBufferString(text) },
		"Len alone":    func() io.Reader { return sizedReader{plainReader{strings.NewReader(text)}, len(text)} },
	} {
		for _, before := range []string{"", "before"} {
			p := newPool(t, dewpond.BytePoolOptions{})
			b := p.Buffer()
			b.WriteString(before)
			gets := p.Stats().Gets
			if n, err := io.Copy(b, r()); n != int64(len(text)) || err != nil || b.String() != before+text {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
			if gets := p.Stats().Gets - gets; gets != 1 {
				t.Errorf("%s, %d bytes before: %d blocks", name, len(before), gets)
			}
			b.Reset()
			if n, err := b.ReadFrom(r()); n != int64(len(text)) || err != nil || b.String() != text {
				t.Errorf("%s: ReadFrom: %d bytes, %v", name, n, err)
			}
			b.Release()
		}
	}

	// What somebody else says is not trusted.
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	defer b.Release()
	if n, err := io.Copy(b, io.LimitReader(strings.NewReader("short"), 1<<40)); n != 5 || err != nil || b.Cap() > 1024 {
		t.Errorf("%d bytes, %v, in a block of %d", n, err, b.Cap())
	}
}

// If the Put of the block that the text has outgrown panics, the block is put back once.
func TestReadAllPutsOnce(t *testing.T) {
	source := &panicsInFree{fakeSource: newFakeSource()}
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, 1024}, Memory: source, MaxIdleBytes: dewpond.NoIdle})
	source.on = true
	if text := panics(func() { p.ReadAll(plainReader{strings.NewReader(strings.Repeat("x", 700))}) }); text == "" {
		t.Fatal("Free does not panic")
	}
	source.on = false
	if s := p.Stats(); s.Dropped.Foreign+s.Dropped.Double != 0 {
		t.Errorf("%+v", s)
	}
}
