package contender

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

// sizesToTry are where rounding goes wrong: the ends, the class sizes, and one beside each.
func sizesToTry() []int {
	var all []int
	for _, s := range dewpond.DefaultClasses() {
		all = append(all, s-1, s, s+1)
	}
	all = all[:len(all)-1] // above Largest
	return append(all, 1, 2, 3, 16, 17, 48)
}

// oneSize is the size of all blocks of a contender that has but one.
const oneSize = 1024

// sizesOf returns the sizes, or oneSize for a contender that has no other.
func sizesOf(c Contender, sizes []int) []int {
	if c.OneSize {
		return []int{oneSize}
	}
	return sizes
}

func each(t *testing.T, clearing bool, do func(t *testing.T, c Contender, p Pool)) {
	for _, c := range All() {
		o := Options{Clearing: clearing}
		if c.OneSize {
			o.Size = oneSize
		}
		t.Run(c.Name, func(t *testing.T) { do(t, c, c.New(o)) })
	}
}

func TestLength(t *testing.T) {
	each(t, false, func(t *testing.T, c Contender, p Pool) {
		v := p.View()
		for range 2 { // the second time blocks are reused
			for _, n := range sizesOf(c, sizesToTry()) {
				b := v.Get(n)
				if len(b.Bytes) != n || cap(b.Bytes) < n {
					t.Fatalf("Get(%d) has len %d and cap %d", n, len(b.Bytes), cap(b.Bytes))
				}
				b.Bytes[0], b.Bytes[n-1] = 1, 1
				v.Put(b)
			}
		}
	})
}

// TestCleared looks for the bytes of an earlier owner, up to cap, at every size.
func TestCleared(t *testing.T) {
	each(t, true, func(t *testing.T, c Contender, p Pool) {
		if c.Name == "mcache" && raceEnabled {
			t.Skip("under the race detector sync.Pool drops Puts, and memory that mcache makes anew is not cleared")
		}
		v := p.View()
		fill := func(b Block) {
			whole := b.Bytes[:cap(b.Bytes)]
			copy(whole, bytes.Repeat([]byte("secret"), len(whole)/6+1))
		}
		for _, n := range sizesOf(c, []int{100, 128, 5000, 8192, 100_000}) {
			for range 3 {
				b := v.Get(n)
				fill(b)
				v.Put(b)
			}
			b := v.Get(n)
			if i := bytes.Index(b.Bytes[:cap(b.Bytes)], []byte("secret")); i >= 0 {
				t.Errorf("Get(%d) shows an earlier owner's bytes at %d", n, i)
			}
			v.Put(b)
		}
	})
}

// TestReused makes sure that each contender reuses blocks as its kind of pool does.
func TestReused(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("under the race detector sync.Pool drops Puts at random")
	}
	each(t, false, func(t *testing.T, c Contender, p Pool) {
		v := p.View()
		v.Loop(1000, 100)
		if got := testing.AllocsPerRun(1000, func() { v.Loop(1000, 1) }); got != c.Allocs {
			t.Errorf("%v allocations for a Get and a Put, want its Allocs, %v", got, c.Allocs)
		}
		if got := testing.AllocsPerRun(1000, func() {
			b := v.Get(1000)
			sink = b.Bytes
			v.Put(b)
		}); got != c.Allocs {
			t.Errorf("%v allocations for a Get and a Put through Block, want its Allocs, %v", got, c.Allocs)
		}
	})
}

var sink []byte

// TestOneOwner stamps blocks, lets other goroutines run, and checks that the stamp is still there.
// One goroutine gets a block, another puts it back.
func TestOneOwner(t *testing.T) {
	const goroutines, times = 64, 300
	each(t, true, func(t *testing.T, c Contender, p Pool) {
		sizes := sizesOf(c, []int{64, 128, 1000, 8192})
		passed := make(chan Block, goroutines)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				v := p.View()
				for i := range times {
					b := v.Get(sizes[(g+i)%len(sizes)])
					mark := uint64(g*times + i + 1)
					binary.LittleEndian.PutUint64(b.Bytes, mark)
					runtime.Gosched()
					if got := binary.LittleEndian.Uint64(b.Bytes); got != mark {
						t.Errorf("goroutine %d finds stamp %d in its block, want %d", g, got, mark)
						return
					}
					if c.Private {
						v.Put(b)
						continue
					}
					select {
					case passed <- b:
					case other := <-passed:
						v.Put(other)
						v.Put(b)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestBounded puts back far more blocks than the bounded contenders keep.
func TestBounded(t *testing.T) {
	const size, count = oneSize, 5000
	each(t, false, func(t *testing.T, c Contender, p Pool) {
		idler, ok := p.(Idler)
		if ok != (c.MostIdle != nil) {
			t.Fatal("an Idler has a MostIdle, and nothing else has one")
		}
		if !ok {
			t.Skip("it cannot tell what it keeps")
		}
		v := p.View()
		var held []Block
		for range count {
			held = append(held, v.Get(size))
		}
		for _, b := range held {
			v.Put(b)
		}
		got := idler.IdleBytes()
		if most := c.MostIdle(size); got == 0 || got > int64(most*size) {
			t.Errorf("keeps %d bytes idle, want at most %d blocks of %d", got, most, size)
		}
	})
}

// With ZeroDefault dewpond clears what is put back, and with neither option it does not. Another contender
// clears nothing in either case.
func TestZeroDefault(t *testing.T) {
	for _, c := range All() {
		if c.Name != "dewpond" && c.Name != "ring" {
			continue
		}
		for _, byDefault := range []bool{false, true} {
			v := c.New(Options{Size: oneSize, ZeroDefault: byDefault}).View()
			b := v.Get(oneSize)
			b.Bytes[oneSize/2] = 1
			v.Put(b)
			cleared := v.Get(oneSize).Bytes[oneSize/2] == 0
			if want := byDefault && c.Name == "dewpond"; cleared != want {
				t.Errorf("%s, ZeroDefault %v: cleared is %v, want %v", c.Name, byDefault, cleared, want)
			}
		}
	}
}

// TestRoom puts back a burst for which the scenario asked for room: the contenders that are bounded in
// blocks keep all of it.
func TestRoom(t *testing.T) {
	const size, count = oneSize, 5000 // more than any of them keeps otherwise
	bounded := []string{"treiber", "ring", "channel", "bpool"}
	found, err := Find(bounded)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		if c.MostIdle(size) >= count {
			t.Errorf("%s keeps %d blocks without room for more: the test shows nothing", c.Name, c.MostIdle(size))
		}
		p := c.New(Options{Size: size, Room: map[int]int{size: count}})
		v := p.View()
		var held []Block
		for range count {
			held = append(held, v.Get(size))
		}
		for _, b := range held {
			v.Put(b)
		}
		if got := p.(Idler).IdleBytes(); got != count*size {
			t.Errorf("%s keeps %d bytes of a burst for which it has room, want all %d", c.Name, got, count*size)
		}
	}
}

// TestRefusers takes blocks up to a bound of four. A block that is put back makes room, Get is never
// refused, and without a bound nothing is.
func TestRefusers(t *testing.T) {
	const size, most = 64 << 10, 4
	refusers := 0
	for _, c := range All() {
		p, ok := c.New(Options{Budget: dewpond.MustBudget("test", most*size)}).(Refuser)
		if !ok {
			continue
		}
		refusers++
		v := p.(Pool).View()
		var held []Block
		for {
			b, ok := p.TryGet(size)
			if !ok {
				break
			}
			if held = append(held, b); len(held) > most {
				break
			}
		}
		if len(held) != most {
			t.Errorf("%s hands out %d blocks, want %d", c.Name, len(held), most)
		}
		v.Put(held[0])
		b, ok := p.TryGet(size)
		if !ok || len(b.Bytes) != size {
			t.Errorf("%s: after a Put TryGet has %d bytes, %v", c.Name, len(b.Bytes), ok)
		}
		v.Put(v.Get(size))
		if _, ok := p.TryGet(size); ok {
			t.Errorf("%s hands out more once Get has gone past the bound and Put has put that back", c.Name)
		}
		p = c.New(Options{}).(Refuser)
		for range 10 * most {
			if _, ok := p.TryGet(size); !ok {
				t.Fatalf("%s refuses without a bound", c.Name)
			}
		}
	}
	if refusers < 2 {
		t.Errorf("%d contenders refuse, want dewpond and syncpool-bounded at least", refusers)
	}
}

// TestDecay lets idle blocks age: dewpond frees its blocks within two timeouts, on the heap and off
// it, and dewpond-nodecay never.
func TestDecay(t *testing.T) {
	const size, count, timeout = 1024, 1000, time.Second
	for name, decays := range map[string]bool{"dewpond": true, "dewpond-offheap": true, "dewpond-nodecay": false} {
		synctest.Test(t, func(t *testing.T) {
			found, err := Find([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			p := found[0].New(Options{IdleTimeout: timeout})
			v := p.View()
			var held []Block
			for range count {
				held = append(held, v.Get(size))
			}
			for _, b := range held {
				v.Put(b)
			}
			idle := p.(Idler).IdleBytes()
			if idle != count*size {
				t.Fatalf("%s: %d bytes idle after the last Put, want %d", name, idle, count*size)
			}
			time.Sleep(4 * timeout)
			want := idle
			if decays {
				want = 0
			}
			// Blocks in a shard that is not used take one more collection.
			if got := p.(Idler).IdleBytes(); got > want+idle/8 || got < want {
				t.Errorf("%s: %d bytes idle four timeouts later, want %d", name, got, want)
			}
		})
	}
}

// The variants take part only if they are named.
func TestUsual(t *testing.T) {
	usual := Usual()
	for _, variant := range []string{"dewpond-offheap", "dewpond-nodecay", "dewpond-sampled", "dewsync", "syncpool", "syncpool-bounded", "bpool"} {
		if slices.Contains(usual, variant) {
			t.Errorf("%s takes part unless it is named", variant)
		}
	}
	if !slices.Contains(usual, "dewpond") {
		t.Errorf("usual are %v", usual)
	}
}

// No two contenders share a colour, and one that has chosen none has that of its name.
func TestHues(t *testing.T) {
	by := map[palette.Hue]string{}
	for _, c := range All() {
		hue := HueOf(c.Name)
		if other, taken := by[hue]; taken {
			t.Errorf("%s and %s have the same hue", other, c.Name)
		}
		by[hue] = c.Name
	}
	if got, want := HueOf("pile"), palette.Of("pile"); got != want {
		t.Errorf("a contender without a hue has %v, want that of its name, %v", got, want)
	}
}

func TestFind(t *testing.T) {
	found, err := Find([]string{"dewpond", "nop", "nop"})
	if err != nil || len(found) != 2 || found[0].Name != "nop" || found[1].Name != "dewpond" {
		t.Errorf("Find gave %v, %v; want nop and dewpond", found, err)
	}
	_, err = Find([]string{"nop", "nope"})
	if err == nil || !strings.Contains(err.Error(), `"nope"`) || !strings.Contains(err.Error(), "syncpool-class") {
		t.Errorf("Find of an unknown name gave %v, want one that names it and the valid ones", err)
	}
}

// TestTreiberClasses checks the repaired rounding: each block of a class holds every size that the
// class is asked for.
func TestTreiberClasses(t *testing.T) {
	p := treiber.New(Options{}).View()
	for n := 1; n <= treiberSmallest<<(treiberClasses-1); n += 1 + n/50 {
		b := p.Get(n)
		if c := cap(b.Bytes); c < n || c&(c-1) != 0 {
			t.Fatalf("Get(%d) has cap %d, want a power of two that holds it", n, c)
		}
		p.Put(b)
	}
}

func TestFallbackLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that no second ends meanwhile
		var l fallbackLimiter
		for range 2 {
			for i := range fallbackPerSecond {
				if !l.allow() {
					t.Fatalf("miss %d refused within the second", i)
				}
			}
			if l.allow() {
				t.Error("one more than the limit was allowed")
			}
			time.Sleep(time.Second)
		}
	})
}
