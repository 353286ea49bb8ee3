package dewpond_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125"
)

// Every method of a BytePool, and what it says of itself.
var bytePoolMethods = map[string]func(t *testing.T, p *dewpond.BytePool) any{
	"Get": func(t *testing.T, p *dewpond.BytePool) any { return len(p.Get(100)) + cap(p.Get(40<<10)) },
	"TryGet": func(t *testing.T, p *dewpond.BytePool) any {
		b, err := p.TryGet(100)
		return fmt.Sprint(len(b), cap(b), err)
	},
	"GetContext": func(t *testing.T, p *dewpond.BytePool) any {
		b, err := p.GetContext(t.Context(), 100)
		return fmt.Sprint(len(b), cap(b), err)
	},
	"GetBatch": func(t *testing.T, p *dewpond.BytePool) any {
		blocks := make([][]byte, 3)
		err := p.GetBatch(t.Context(), blocks, 100)
		return fmt.Sprint(len(blocks[2]), cap(blocks[2]), err)
	},
	"Put": func(t *testing.T, p *dewpond.BytePool) any {
		for _, b := range [][]byte{nil, {}, make([]byte, 100), make([]byte, 128), make([]byte, 40<<10), make([]byte, 2<<20)} {
			p.Put(b)
		}
		return nil
	},
	"Grow":   func(t *testing.T, p *dewpond.BytePool) any { return cap(p.Grow(make([]byte, 64), 100)) },
	"Append": func(t *testing.T, p *dewpond.BytePool) any { return cap(p.Append(make([]byte, 64), 1, 2, 3)) },
	"Prewarm": func(t *testing.T, p *dewpond.BytePool) any {
		return fmt.Sprint(p.Prewarm(100, 3), p.Prewarm(2<<20, 1) != nil)
	},
	"Trim":  func(t *testing.T, p *dewpond.BytePool) any { return p.Trim() },
	"Stats": func(t *testing.T, p *dewpond.BytePool) any { return len(p.Stats().Classes) },
	"Close": func(t *testing.T, p *dewpond.BytePool) any {
		err := p.Close()
		_, closed := p.TryGet(100)
		p.Put(p.Get(100))
		return fmt.Sprint(err, closed, p.Prewarm(100, 1))
	},
	"PutWritten": func(t *testing.T, p *dewpond.BytePool) any {
		p.PutWritten(p.Get(1000)[:10])
		return p.Get(1000)
	},
	"Adopt": func(t *testing.T, p *dewpond.BytePool) any {
		p.Adopt(make([]byte, 1000))
		return cap(p.Get(900))
	},
	"Bodies": func(t *testing.T, p *dewpond.BytePool) any {
		h := p.Bodies()
		h.Put(append(h.Get(), make([]byte, 5000)...))
		return p.Stats().InUseBytes
	},
	"ReadAll": func(t *testing.T, p *dewpond.BytePool) any {
		b, err := p.ReadAll(strings.NewReader("text"))
		defer p.Put(b)
		return fmt.Sprint(string(b), cap(b), err)
	},
	"TryBuffer": func(t *testing.T, p *dewpond.BytePool) any {
		b := p.TryBuffer()
		defer b.Release()
		n, err := b.WriteString(strings.Repeat("x", 1000))
		return fmt.Sprint(b.String(), n, err)
	},
	"Buffer": func(t *testing.T, p *dewpond.BytePool) any {
		b := p.Buffer()
		defer b.Release()
		fmt.Fprint(b, strings.Repeat("x", 1000))
		return b.String()
	},
	"Lease": func(t *testing.T, p *dewpond.BytePool) any {
		a, b := p.Lease(100), p.Lease(40<<10)
		c := a.Retain()
		return fmt.Sprint(len(a.Bytes()), cap(b.Bytes()), dewpond.Release(a), dewpond.Release(b), dewpond.Release(c), dewpond.Release(c))
	},
	"LeaseContext": func(t *testing.T, p *dewpond.BytePool) any {
		l, err := p.LeaseContext(t.Context(), 100)
		return fmt.Sprint(cap(l.Bytes()), err, dewpond.Release(l))
	},
	"LeaseOf": func(t *testing.T, p *dewpond.BytePool) any {
		l := p.LeaseOf(make([]byte, 100))
		return fmt.Sprint(cap(l.Bytes()), dewpond.Release(l), dewpond.Release(p.LeaseOf(make([]byte, 100, 128))))
	},
	"Scope": func(t *testing.T, p *dewpond.BytePool) any {
		s := p.Scope()
		defer s.Close()
		return fmt.Sprint(len(s.Get(100)), len(s.Get(40<<10)), dewpond.ScopeSlice[int64](s, 3))
	},
	"Name":        func(t *testing.T, p *dewpond.BytePool) any { return strings.HasPrefix(p.Name(), "pool") },
	"ReportLeaks": func(t *testing.T, p *dewpond.BytePool) any { return dewtest.ReportLeaks(p) },
}

// resettable has a Reset that sees what it is called with.
type resettable struct{ sum, resets int }

func (r *resettable) Reset() { r.sum, r.resets = 0, r.resets+r.sum }

// Every method of a Pool likewise.
var poolMethods = map[string]func(t *testing.T, p *dewpond.Pool[resettable]) any{
	"Get":    func(t *testing.T, p *dewpond.Pool[resettable]) any { return *p.Get() },
	"TryGet": func(t *testing.T, p *dewpond.Pool[resettable]) any { v, err := p.TryGet(); return fmt.Sprint(*v, err) },
	"GetContext": func(t *testing.T, p *dewpond.Pool[resettable]) any {
		v, err := p.GetContext(t.Context())
		return fmt.Sprint(*v, err)
	},
	"Put": func(t *testing.T, p *dewpond.Pool[resettable]) any {
		p.Put(nil)
		p.Put(&resettable{sum: 7})
		return *p.Get() // which has been Reset once, and was not cleared before
	},
	"Prewarm": func(t *testing.T, p *dewpond.Pool[resettable]) any { return p.Prewarm(3) },
	"Trim":    func(t *testing.T, p *dewpond.Pool[resettable]) any { return p.Trim() },
	"Stats":   func(t *testing.T, p *dewpond.Pool[resettable]) any { return len(p.Stats().Classes) },
	"Close": func(t *testing.T, p *dewpond.Pool[resettable]) any {
		err := p.Close()
		_, closed := p.TryGet()
		p.Put(p.Get())
		return fmt.Sprint(err, closed, p.Prewarm(1))
	},
	"Name":        func(t *testing.T, p *dewpond.Pool[resettable]) any { return strings.HasPrefix(p.Name(), "pool") },
	"ReportLeaks": func(t *testing.T, p *dewpond.Pool[resettable]) any { return dewtest.ReportLeaks(p) },
}

// Every method of a SlicePool likewise, of elements that Put clears with respect to their
// pointers.
var sliceMethods = map[string]func(t *testing.T, p *dewpond.SlicePool[entry]) any{
	"Get": func(t *testing.T, p *dewpond.SlicePool[entry]) any { return len(p.Get(100)) + cap(p.Get(4<<10)) },
	"TryGet": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		s, err := p.TryGet(100)
		return fmt.Sprint(len(s), cap(s), err)
	},
	"GetContext": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		s, err := p.GetContext(t.Context(), 100)
		return fmt.Sprint(len(s), cap(s), err)
	},
	"Put": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		class := cap(p.Get(100))
		for _, s := range [][]entry{nil, {}, make([]entry, 7), make([]entry, class), make([]entry, 1<<20)} {
			p.Put(s)
		}
		dirty := make([]entry, class)
		dirty[class-1].Name = "alice"
		p.Put(dirty)
		return p.Get(class)[class-1]
	},
	"Adopt": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		p.Adopt(make([]entry, 100))
		return cap(p.Get(90))
	},
	"Bodies": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		b := p.Bodies()
		b.Put(append(b.Get(), make([]entry, 500)...))
		return p.Stats().InUseBytes
	},
	"Grow":   func(t *testing.T, p *dewpond.SlicePool[entry]) any { return cap(p.Grow(make([]entry, 4), 100)) },
	"Append": func(t *testing.T, p *dewpond.SlicePool[entry]) any { return cap(p.Append(nil, make([]entry, 30)...)) },
	"Prewarm": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		return fmt.Sprint(p.Prewarm(100, 3), p.Prewarm(1<<20, 1) != nil)
	},
	"Trim":  func(t *testing.T, p *dewpond.SlicePool[entry]) any { return p.Trim() },
	"Stats": func(t *testing.T, p *dewpond.SlicePool[entry]) any { return len(p.Stats().Classes) },
	"Close": func(t *testing.T, p *dewpond.SlicePool[entry]) any {
		err := p.Close()
		_, closed := p.TryGet(100)
		p.Put(p.Get(100))
		return fmt.Sprint(err, closed, p.Prewarm(100, 1))
	},
	"Name":        func(t *testing.T, p *dewpond.SlicePool[entry]) any { return strings.HasPrefix(p.Name(), "pool") },
	"ReportLeaks": func(t *testing.T, p *dewpond.SlicePool[entry]) any { return dewtest.ReportLeaks(p) },
}

// Whatever a zero pool is asked first, it says and counts what a pool with default
// options does.
func TestZeroValueIsTheDefault(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, f := range bytePoolMethods {
		t.Run("BytePool."+name, func(t *testing.T) {
			var zero dewpond.BytePool
			made := dewpond.MustBytePool(dewpond.BytePoolOptions{})
			sameAsMade(t, f(t, &zero), f(t, made), zero.Stats(), made.Stats())
			zero.Close()
			made.Close()
		})
	}
	for name, f := range poolMethods {
		t.Run("Pool."+name, func(t *testing.T) {
			var zero dewpond.Pool[resettable]
			made := dewpond.MustPool(dewpond.PoolOptions[resettable]{})
			sameAsMade(t, f(t, &zero), f(t, made), zero.Stats(), made.Stats())
			zero.Close()
			made.Close()
		})
	}
	for name, f := range sliceMethods {
		t.Run("SlicePool."+name, func(t *testing.T) {
			var zero dewpond.SlicePool[entry]
			made := dewpond.MustSlicePool(dewpond.SlicePoolOptions[entry]{})
			sameAsMade(t, f(t, &zero), f(t, made), zero.Stats(), made.Stats())
			zero.Close()
			made.Close()
		})
	}
	for typ, tests := range map[reflect.Type]reflect.Value{
		reflect.TypeFor[*dewpond.SlicePool[entry]](): reflect.ValueOf(sliceMethods),
		reflect.TypeFor[*dewpond.BytePool]():         reflect.ValueOf(bytePoolMethods),
		reflect.TypeFor[*dewpond.Pool[resettable]](): reflect.ValueOf(poolMethods),
	} {
		for i := range typ.NumMethod() {
			if name := typ.Method(i).Name; !tests.MapIndex(reflect.ValueOf(name)).IsValid() {
				t.Errorf("no test calls %s of the zero %v", name, typ.Elem())
			}
		}
	}
}

func sameAsMade(t *testing.T, got, want any, gotStats, wantStats dewpond.Stats) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the zero value: %v; with default options: %v", got, want)
	}
	gotStats.Name, wantStats.Name = "", ""           // they live at once
	gotStats.OldestIdle, wantStats.OldestIdle = 0, 0 // each is asked at its own time, once a collection has made it look
	gotStats.Guard.Rate, wantStats.Guard.Rate = 0, 0 // of the process, likewise
	gotStats.Guard.Samples, wantStats.Guard.Samples = 0, 0
	if !reflect.DeepEqual(gotStats, wantStats) {
		t.Errorf("the zero value:       %+v\nwith default options: %+v", gotStats, wantStats)
	}
}

// The second use finds what the first has put back, and nothing of what was in it.
func TestZeroValueHits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var owner struct { // as users have them
		blocks  dewpond.BytePool
		objects dewpond.Pool[account]
	}
	foreign := bytes.Repeat([]byte("secret"), 128)[:128:128]
	owner.blocks.Put(foreign) // before any Get
	owner.objects.Put(&account{ID: 7})
	for i := range 3 {
		b, v := owner.blocks.Get(100), owner.objects.Get()
		if whole := b[:cap(b)]; bytes.Count(whole, []byte{0}) != len(whole) || *v != (account{}) {
			t.Fatalf("Get %d sees what others have left: %q, %+v", i, whole, *v)
		}
		copy(b, "secret")
		v.ID = 7
		owner.blocks.Put(b)
		owner.objects.Put(v)
	}
	if blocks, objects := owner.blocks.Stats(), owner.objects.Stats(); blocks.Hits != 3 || objects.Hits != 3 || blocks.Misses+objects.Misses != 0 {
		t.Errorf("%d of 3 Gets of blocks hit, and %d of 3 of objects", blocks.Hits, objects.Hits)
	}
	names := names()
	for _, name := range []string{owner.blocks.Name(), owner.objects.Name()} {
		if !slices.Contains(names, name) {
			t.Errorf("Pools has %q, not %q", names, name)
		}
	}
	owner.blocks.Close()
	owner.objects.Close()
}

// However many use a zero pool first, at once, they use one: no block or count is lost,
// and nobody sees what another has left. The race detector looks on.
func TestZeroValueFirstUseByMany(t *testing.T) {
	const users, each = 8, 20
	for range 20 {
		before := len(names())
		var blocks dewpond.BytePool
		var objects dewpond.Pool[resettable]
		var lists dewpond.SlicePool[entry]
		var start, done go125.WaitGroup
		start.Add(1)
		for user := range users {
			done.Go(func() {
				start.Wait()
				for i := range each {
					switch (user + i) % 4 {
					case 0:
						useZeroed(t, &blocks, blocks.Get(100))
					case 1:
						b, _ := blocks.TryGet(100)
						useZeroed(t, &blocks, b)
					case 2:
						l := blocks.Lease(100)
						l.Bytes()[0] = 1
						l.Release()
					case 3:
						s := blocks.Scope()
						s.Get(1)[0] = 1
						s.Close()
					}
					v := objects.Get()
					if v.sum != 0 {
						t.Errorf("an object was handed out with %d in it", v.sum)
					}
					v.sum = 1
					objects.Put(v)

					list := lists.Get(10)
					if slices.ContainsFunc(list[:cap(list)], func(e entry) bool { return e != entry{} }) {
						t.Errorf("a slice was handed out with %v in it", list[:cap(list)])
					}
					list[9].Name = "alice"
					lists.Put(list)
				}
			})
		}
		start.Done()
		done.Wait()
		for _, s := range []dewpond.Stats{blocks.Stats(), objects.Stats(), lists.Stats()} {
			if s.Gets != users*each || s.Puts != users*each || s.InUseBytes != 0 {
				t.Fatalf("%d Gets, %d Puts, %d bytes in use; want %d, as many, 0", s.Gets, s.Puts, s.InUseBytes, users*each)
			}
		}
		if got := len(names()) - before; got > 3 { // others may have gone
			t.Errorf("three zero pools made %d", got)
		}
		blocks.Close()
		objects.Close()
		lists.Close()
	}
}

// useZeroed fails unless a block is all zero, writes to it and puts it back.
func useZeroed(t *testing.T, p *dewpond.BytePool, b []byte) {
	if whole := b[:cap(b)]; bytes.Count(whole, []byte{0}) != len(whole) {
		t.Errorf("a block was handed out with %q in it", whole)
	}
	b[0] = 1
	p.Put(b)
}

// The zero Pool of a type for which the default options are refused says so, each
// time.
func TestZeroValueOfUnfitType(t *testing.T) {
	want := panics(func() { dewpond.MustPool(dewpond.PoolOptions[session]{}) })
	var p dewpond.Pool[session]
	for name, f := range map[string]func(){
		"Get": func() { p.Get() }, "Put": func() { p.Put(new(session)) }, "Stats": func() { p.Stats() }, "again": func() { p.Get() },
	} {
		if got := panics(f); got == "" || got != want {
			t.Errorf("%s panics with %q, MustPool with %q", name, got, want)
		}
	}
}

// A nil pool is none: any use panics, and a defer can recover.
func TestNilPoolPanics(t *testing.T) {
	for name, f := range bytePoolMethods {
		if panics(func() { f(t, nil) }) == "" {
			t.Errorf("%s of a nil BytePool does not panic", name)
		}
	}
	for name, f := range poolMethods {
		if panics(func() { f(t, nil) }) == "" && name != "Put" {
			t.Errorf("%s of a nil Pool does not panic", name)
		}
	}
	for name, f := range sliceMethods {
		if panics(func() { f(t, nil) }) == "" {
			t.Errorf("%s of a nil SlicePool does not panic", name)
		}
	}
}

// go vet reports a copy of a struct that has, at any depth, a field whose pointer is a
// sync.Locker and whose value is not.
func TestPoolsAreNoCopy(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[dewpond.BytePool](), reflect.TypeFor[dewpond.Pool[account]](), reflect.TypeFor[dewpond.SlicePool[entry]](), reflect.TypeFor[dewpond.Scope]()} {
		if !vetReportsCopies(typ) {
			t.Errorf("go vet lets a %v be copied", typ)
		}
	}
}

func vetReportsCopies(typ reflect.Type) bool {
	locker := reflect.TypeFor[sync.Locker]()
	switch typ.Kind() {
	case reflect.Array:
		return vetReportsCopies(typ.Elem())
	case reflect.Struct:
		if reflect.PointerTo(typ).Implements(locker) && !typ.Implements(locker) {
			return true
		}
		for i := range typ.NumField() {
			if vetReportsCopies(typ.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// BenchmarkZeroValue is a Get, a write and a Put of the zero value of a pool. Its
// control is a pool that a constructor has made, and then the zero sync.Pool.
func BenchmarkZeroValue(b *testing.B) {
	var zero dewpond.BytePool
	made := newPool(b, dewpond.BytePoolOptions{Name: "made"})
	var theirs sync.Pool
	b.Run("BytePool", func(b *testing.B) {
		ours := func(n int) { ourLoop(&zero, 512, n) }
		versus(b, "made", ours, func(n int) { ourLoop(made, 512, n) })
		versus(b, "sync", ours, func(n int) {
			for range n {
				v, _ := theirs.Get().(*[512]byte)
				if v == nil {
					v = new([512]byte)
				}
				v[0], v[len(v)-1] = 1, 1
				clear(v[:])
				theirs.Put(v)
			}
		})
	})

	var zeroSlices dewpond.SlicePool[byte]
	madeSlices := dewpond.MustSlicePool(dewpond.SlicePoolOptions[byte]{Name: "made"})
	b.Cleanup(func() { madeSlices.Close() })
	b.Run("SlicePool", func(b *testing.B) {
		versus(b, "made", func(n int) { useSlices(&zeroSlices, n) }, func(n int) { useSlices(madeSlices, n) })
	})

	var zeroTrades dewpond.Pool[trade]
	madeTrades := newObjects(b, dewpond.PoolOptions[trade]{Name: "made"})
	var theirTrades sync.Pool
	b.Run("Pool", func(b *testing.B) {
		ours := func(n int) { useTrades(&zeroTrades, n) }
		versus(b, "made", ours, func(n int) { useTrades(madeTrades, n) })
		versus(b, "sync", ours, func(n int) {
			for range n {
				v, _ := theirTrades.Get().(*trade)
				if v == nil {
					v = new(trade)
				}
				v.ID = 1
				*v = trade{}
				theirTrades.Put(v)
			}
		})
	})
}

func useSlices(p *dewpond.SlicePool[byte], n int) {
	for range n {
		s := p.Get(512)
		s[0] = 1
		p.Put(s)
	}
}

func useTrades(p *dewpond.Pool[trade], n int) {
	for range n {
		v := p.Get()
		v.ID = 1
		p.Put(v)
	}
}
