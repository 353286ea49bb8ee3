package dewsync_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// A Pool has what a sync.Pool has, and nothing else that a program could use or miss.
func TestLooksLikeSyncPool(t *testing.T) {
	describe := func(pool any) (all []string) {
		v := reflect.TypeOf(pool)
		for i := range v.NumMethod() {
			m := v.Method(i)
			signature := m.Name
			for j := 1; j < m.Type.NumIn(); j++ {
				signature += " " + m.Type.In(j).String()
			}
			for j := range m.Type.NumOut() {
				signature += " to " + m.Type.Out(j).String()
			}
			all = append(all, signature)
		}
		for i := range v.Elem().NumField() {
			if f := v.Elem().Field(i); f.IsExported() {
				all = append(all, f.Name+" "+f.Type.String())
			}
		}
		return append(all, fmt.Sprint("a value has methods: ", v.Elem().NumMethod(), ", copies are found by vet: ", locks(v.Elem())))
	}
	ours, theirs := describe(new(dewsync.Pool)), describe(new(sync.Pool))
	if !slices.Equal(ours, theirs) || len(theirs) != 4 {
		t.Errorf("dewsync.Pool: %q\nsync.Pool: %q", ours, theirs)
	}
}

// locks is go vet's rule for what must not be copied: it has methods Lock and Unlock, if it is
// addressed, or a field has.
func locks(t reflect.Type) bool {
	if pointer := reflect.PointerTo(t); t.Kind() == reflect.Struct {
		_, lock := pointer.MethodByName("Lock")
		_, unlock := pointer.MethodByName("Unlock")
		// The methods of an unexported type are not to be found by reflection if they are not
		// used; package sync calls such a type noCopy.
		if lock && unlock || t.Name() == "noCopy" {
			return true
		}
		for i := range t.NumField() {
			if locks(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

func TestZeroPool(t *testing.T) {
	oneProcessor(t)
	onBoth(t, func(t *testing.T) {
		var p dewsync.Pool
		for _, x := range []any{p.Get(), p.Get()} {
			if x != nil {
				t.Errorf("the empty pool has %v", x)
			}
		}
		p.Put(nil)
		p.Put((*int)(nil))
		p.Put(map[int]int(nil))
		p.Put((func())(nil))
		if x := p.Get(); x != nil || dewsync.Sources(&p) != nil {
			t.Errorf("a nil is kept: %v", x)
		}
		v := new(int)
		p.Put(v)
		if x := p.Get(); x != v {
			t.Errorf("got %v, want what was put back", x)
		}
		if x := p.Get(); x != nil {
			t.Errorf("got %v twice", x)
		}
	})
}

// Every kind of value comes back with its type and as it was.
func TestValues(t *testing.T) {
	oneProcessor(t)
	type pair struct {
		n int
		s string
	}
	onBoth(t, func(t *testing.T) {
		c := make(chan int)
		for _, x := range []any{
			5, 7_000_000, "constant", strings.Repeat("x", 3), 1.5, true, byte(200),
			struct{}{}, [0]int{}, pair{1, "a"}, [2]string{"a", "b"}, [1]*int{new(int)}, struct{ c chan int }{c},
			new(int), new(struct{}), &pair{2, "b"}, bytes.NewBufferString("text"), &packageVariable,
			[]byte("bytes"), []string(nil), map[string]int{"a": 1}, c, error(fmt.Errorf("wrong")), unsafe.StringData("constant"),
			reflect.TypeFor[int](), reflect.ValueOf(5),
		} {
			for _, p := range []*dewsync.Pool{{}, {New: func() any { return x }}} {
				p.Put(x)
				if got := p.Get(); !reflect.DeepEqual(got, x) || reflect.TypeOf(got) != reflect.TypeOf(x) {
					t.Errorf("got %T %v, want %T %v", got, got, x, x)
				}
				if p.New != nil && !reflect.DeepEqual(p.Get(), x) {
					t.Errorf("New's %T %v is lost", x, x)
				}
			}
		}
		var p dewsync.Pool
		p.Put(func() int { return 7 })
		if f := p.Get().(func() int); f() != 7 {
			t.Error("a function is another one")
		}
	})
}

var packageVariable [4]int

func TestNew(t *testing.T) {
	oneProcessor(t)
	onBoth(t, func(t *testing.T) {
		made := 0
		p := &dewsync.Pool{New: func() any { made++; return new(padded) }}
		a, b := p.Get().(*padded), p.Get().(*padded)
		p.Put(a)
		if c := p.Get(); c != a || made != 2 || a == b {
			t.Errorf("%d made, and what was put back is lost: %v", made, c != a)
		}
		if s := stats(t, p); s.Misses != 2 || s.Hits != 1 || s.Puts != 1 {
			t.Error(s)
		}
		p.New = nil
		if x := p.Get(); x != nil {
			t.Errorf("without New there is %v", x)
		}
		p.New = func() any { return nil }
		if x := p.Get(); x != nil {
			t.Errorf("New's nil is %v", x)
		}
	})
}

// New may use its pool, and may panic.
func TestNewIsOnItsOwn(t *testing.T) {
	oneProcessor(t)
	onBoth(t, func(t *testing.T) {
		var p dewsync.Pool
		p.New = func() any {
			p.New = nil
			if x := p.Get(); x != nil {
				t.Errorf("an empty pool has %v", x)
			}
			p.Put("inner")
			panic("New")
		}
		func() {
			defer func() { recover() }()
			p.Get()
			t.Error("New has not panicked")
		}()
		if x := p.Get(); x != "inner" {
			t.Errorf("after a panic: %v", x)
		}
	})
}

// Neither call allocates beyond the conversion to any.
func TestAllocations(t *testing.T) {
	p, control := &dewsync.Pool{New: func() any { return new(padded) }}, &sync.Pool{New: func() any { return new(padded) }}
	slices, controlSlices := &dewsync.Pool{New: func() any { return make([]byte, 8) }}, &sync.Pool{New: func() any { return make([]byte, 8) }}
	for what, loops := range map[string][2]func(){
		"pointer": {func() { p.Put(p.Get().(*padded)) }, func() { control.Put(control.Get().(*padded)) }},
		//lint:ignore SA6002 boxing the slice is what is counted
		"slice": {func() { slices.Put(slices.Get().([]byte)) }, func() { controlSlices.Put(controlSlices.Get().([]byte)) }},
		"local": {func() { var v padded; p.Put(&v) }, func() { var v padded; control.Put(&v) }},
	} {
		want := map[string]float64{"pointer": 0, "slice": 1, "local": 1}[what]
		for i, loop := range loops {
			least := testing.AllocsPerRun(100, loop)
			for range 100 { // others allocate too, and a collection empties a sync.Pool
				least = min(least, testing.AllocsPerRun(100, loop))
			}
			if least != want {
				t.Errorf("%s, of dewsync and sync the %d.: %v allocations, want %v", what, i+1, least, want)
			}
		}
	}
}

// Idle objects survive collections, as many as were out at once, or 4096 of those that no Get has
// returned, and all others are counted.
func TestBoundAndCollections(t *testing.T) {
	t.Run("got", func(t *testing.T) { boundAndCollections(t, func(p *dewsync.Pool) any { return p.Get() }, 9500, 10_000) })
	t.Run("made", func(t *testing.T) { boundAndCollections(t, func(*dewsync.Pool) any { return new(padded) }, 2048, 4096) })
}

func boundAndCollections(t *testing.T, source func(p *dewsync.Pool) any, least, most int) {
	onBoth(t, func(t *testing.T) {
		const n = 10_000
		p := &dewsync.Pool{New: func() any { return new(padded) }}
		var all []any
		for range n {
			all = append(all, source(p))
		}
		for _, x := range all {
			p.Put(x)
		}
		s := stats(t, p)
		kept := s.Classes[0].Idle
		if kept > most || kept < least || s.Dropped.Full != uint64(n-kept) {
			t.Errorf("%d are idle, %d dropped", kept, s.Dropped.Full)
		}
		for range 3 {
			runtime.GC()
		}
		if left := idle(p); left != kept {
			t.Errorf("after collections %d of %d are left", left, kept)
		}
	})
}

// What nobody needs goes after a time.
func TestDecay(t *testing.T) {
	onBoth(t, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := new(dewsync.Pool)
			for range 100 {
				p.Put(new(padded))
			}
			p.Put("another type")
			time.Sleep(time.Minute - time.Second)
			if n := idle(p); n != 101 {
				t.Errorf("%d are idle before the timeout", n)
			}
			time.Sleep(2 * time.Minute)
			if n := idle(p); n != 0 {
				t.Errorf("%d are left", n)
			}
		})
	})
}

// A pool is in dewpond.Pools, by the place of its New or of its first object, until it is
// collected.
func TestNames(t *testing.T) {
	here := func() string { _, _, line, _ := runtime.Caller(1); return fmt.Sprintf("dewsync/pool_test.go:%d", line) }
	withNew := &dewsync.Pool{New: func() any { return new(int) }}
	wantNew := here()
	wantNew = fmt.Sprintf("dewsync/pool_test.go:%d", lineOf(wantNew)-1)
	withNew.Put(new(int))
	var without, gotten dewsync.Pool
	without.Put(new(int))
	wantWithout := here()
	wantWithout = fmt.Sprintf("dewsync/pool_test.go:%d", lineOf(wantWithout)-1)
	gotten.Get()
	gotten.Put(new(int))
	wantGotten := here()
	wantGotten = fmt.Sprintf("dewsync/pool_test.go:%d", lineOf(wantGotten)-1)
	method := &dewsync.Pool{New: maker{}.make}
	method.Get()
	wantMethod := here()
	wantMethod = fmt.Sprintf("dewsync/pool_test.go:%d", lineOf(wantMethod)-1)
	without.Put("second type")
	for i := range dewsync.MostTypes {
		without.Put(reflect.New(reflect.ArrayOf(i, reflect.TypeFor[int]())).Elem().Interface())
	}
	for _, p := range []struct {
		pool *dewsync.Pool
		want string
	}{
		{withNew, wantNew}, {&without, wantWithout}, {&gotten, wantGotten}, {method, wantMethod},
	} {
		name := dewsync.Sources(p.pool)[0].Name()
		if strings.TrimRight(strings.TrimPrefix(name, p.want), "-0123456789") != "" { // a second pool of a name has a number
			t.Errorf("the name is %q, want %q", name, p.want)
		}
		if !live(name) {
			t.Errorf("%q is not in dewpond.Pools", name)
		}
	}
	var last string
	for i, s := range dewsync.Sources(&without) {
		last = s.Name()
		if second := i == 1; second && !strings.Contains(last, " string") {
			t.Errorf("the pool of the second type is called %q", last)
		}
	}
	if n := len(dewsync.Sources(&without)); n != dewsync.MostTypes+1 || !strings.Contains(last, " others") {
		t.Errorf("%d pools, of which the last is %q", n, last)
	}
	name := dewsync.Sources(withNew)[0].Name()
	runtime.KeepAlive(withNew)
	withNew = nil
	for live(name) { // if it is not collected, the test runs into its timeout
		runtime.GC()
		runtime.Gosched()
	}
}

func live(name string) bool {
	for s := range dewpond.Pools() {
		if s.Name() == name {
			return true
		}
	}
	return false
}

func lineOf(place string) (line int) {
	fmt.Sscanf(place[strings.LastIndex(place, ":")+1:], "%d", &line)
	return line
}

type maker struct{}

func (maker) make() any { return new(int) }

// The fields are what a *T as small as a word has, for sizes.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		x    any
		size int
	}{{new(padded), 128}, {make([]byte, 100), 3 * int(unsafe.Sizeof(uintptr(0)))}, {int64(5), 8}, {struct{}{}, 1}, {new(struct{}), 1}} {
		var p dewsync.Pool
		p.Put(c.x)
		if s := stats(t, &p); s.Classes[0].Size != c.size && c.size != 128 || s.IdleBytes != int64(s.Classes[0].Size) {
			t.Errorf("a %T has %d bytes, want %d", c.x, s.Classes[0].Size, c.size)
		}
	}
}

// Objects of two types and more, used at once, come back as what they are.
func TestTypesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T) {
		var p dewsync.Pool
		var wg go125.WaitGroup
		var got atomic.Int64
		for g := range 8 {
			wg.Go(func() {
				for i := range 2000 {
					switch (g + i) % 4 {
					case 0:
						p.Put(&[4]int{i, i, i, i})
					case 1:
						p.Put([]byte{1, 2, 3})
					case 2:
						p.Put(i * 1000)
					case 3:
						p.Put(fmt.Errorf("%d", i))
					}
					x := p.Get()
					if x != nil {
						got.Add(1)
					}
					switch v := x.(type) {
					case nil:
					case *[4]int:
						if v[0] != v[3] {
							t.Error(v)
						}
						*v = [4]int{-1, -1, -1, -1}
					case []byte:
						if len(v) != 3 || v[2] != 3 {
							t.Error(v)
						}
					case int:
						if v%1000 != 0 {
							t.Error(v)
						}
					case error:
						if v.Error() == "" {
							t.Error(v)
						}
					default:
						t.Errorf("%T", v)
					}
				}
			})
		}
		wg.Wait()
		if got.Load() == 0 {
			t.Error("no Get has found anything")
		}
	})
}

// However many types there are, each object comes back.
func TestManyTypes(t *testing.T) {
	oneProcessor(t)
	var p dewsync.Pool
	const n = 3 * dewsync.MostTypes
	for i := range n {
		p.Put(reflect.New(reflect.ArrayOf(i, reflect.TypeFor[int]())).Elem().Interface())
	}
	seen := map[reflect.Type]bool{}
	for range n {
		seen[reflect.TypeOf(p.Get())] = true
	}
	if len(seen) != n || seen[nil] {
		t.Errorf("of %d types %d come back", n, len(seen))
	}
}

// Two first uses at once make one pool.
func TestFirstUse(t *testing.T) {
	for range 100 {
		if !dewsync.FirstUse(new(dewsync.Pool), new(int)) {
			t.Fatal("there are two")
		}
	}
}

// What a Put has written its Get reads, without any other synchronization: the race detector
// sees that too. And no object has two owners.
func TestStress(t *testing.T) {
	type object struct{ owner, left int }
	onBoth(t, func(t *testing.T) {
		p := &dewsync.Pool{New: func() any { return new(object) }}
		var wg go125.WaitGroup
		for g := 1; g <= 8; g++ {
			wg.Go(func() {
				for i := range 3000 {
					v := p.Get().(*object)
					if v.owner != 0 || v.left < 0 {
						t.Errorf("%d has got what is %d's", g, v.owner)
						return
					}
					v.owner = g
					v.left++
					if i%16 == 0 {
						runtime.Gosched()
					}
					if v.owner != g {
						t.Errorf("%d has taken what %d had", v.owner, g)
						return
					}
					v.owner = 0
					p.Put(v)
				}
			})
		}
		wg.Wait()
		if s := stats(t, p); s.Gets != 8*3000 || s.Puts != s.Gets {
			t.Error(s)
		}
	})
}

// A pool that is used while package variables are initialized works.
var (
	early    = dewsync.Pool{New: func() any { return &inOrder{} }}
	earlyGot = func() *inOrder {
		v := early.Get().(*inOrder)
		v.n = 42
		early.Put(v)
		return early.Get().(*inOrder)
	}()
)

type inOrder struct{ n int }

func TestBeforeInit(t *testing.T) {
	if earlyGot.n != 42 || !strings.Contains(dewsync.Sources(&early)[0].Name(), "dewsync/pool_test.go:") {
		t.Errorf("got %v from %q", earlyGot, dewsync.Sources(&early)[0].Name())
	}
}

// Where there is no room for an object, a Pool is as good as a sync.Pool: a second burst finds what the first put
// back, with New and without.
func TestBurstPastTheBound(t *testing.T) {
	oneProcessor(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const burst = 20_000 // more than the 4096 that a Pool retains
	for _, withNew := range []bool{false, true} {
		var p dewsync.Pool
		made := 0
		if withNew {
			p.New = func() any { made++; return new([64]byte) }
		}
		objects := make([]any, burst)
		for range 3 {
			for i := range objects {
				if objects[i] = p.Get(); objects[i] == nil {
					made++
					objects[i] = new([64]byte)
				}
			}
			for _, x := range objects {
				p.Put(x)
			}
		}
		want := burst
		if !strings.HasPrefix(stats(t, &p).Engine, "pinned") { // with -race a sync.Pool drops some
			want *= 3
		}
		if made > want {
			t.Errorf("with New %v: three bursts of %d made %d objects", withNew, burst, made)
		}
	}
}

// A Get that returns nil is a miss, also one before the pool has an object of any type.
func TestNilGetsAreMisses(t *testing.T) {
	oneProcessor(t)
	var p dewsync.Pool
	objects := make([]*[64]byte, 5)
	for i := range objects {
		if p.Get() != nil {
			t.Fatal("an empty pool without New has an object")
		}
		objects[i] = new([64]byte)
	}
	for _, v := range objects {
		p.Put(v)
	}
	for range 8 {
		p.Get()
	}
	if s := stats(t, &p); s.Gets != 13 || s.Misses != 8 || s.Hits != 5 || s.InUseBytes != 8*64 {
		t.Errorf("%+v", s)
	}
}

// Callers that do without an object where Get returns nil do not raise the bound.
func TestNilGetsAreNotInUse(t *testing.T) {
	var p dewsync.Pool
	p.Put(new([64]byte))
	for range 100_000 {
		p.Get()
	}
	for range 100_000 {
		p.Put(new([64]byte))
	}
	if n := idle(&p); n > 4096 {
		t.Errorf("%d objects are idle, and one was in use", n)
	}
}
