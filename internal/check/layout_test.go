package check

import (
	"context"
	"crypto/tls"
	"expvar"
	"net"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unique"
	"weak"

	"github.com/dewpond/dewpond/misuse"
)

type counter struct {
	Name  string
	Count atomic.Int64
	Last  int64
}

type (
	ownMutex  sync.Mutex
	ownAtomic atomic.Int64
	ownTimer  time.Timer
)

// What may change in an idle object is not watched, at any depth by value; all else is.
func TestLayoutOf(t *testing.T) {
	for _, tt := range []struct {
		object any
		want   []string // the innermost fields that are watched, or "" for an object that is no struct
	}{
		{0, []string{""}},
		{"text", []string{""}},
		{[4]int{}, []string{""}},
		{struct{ A, B int }{}, []string{"A", "B"}},
		{counter{}, []string{"Name", "Last"}},
		{struct {
			A     int
			inner struct {
				B       int64 // no padding behind it, which is watched as inner
				Counter counter
			}
		}{}, []string{"A", "inner.B", "inner.Counter.Name", "inner.Counter.Last"}},
		{struct {
			counter
			sync.Mutex
			A int
		}{}, []string{"counter.Name", "counter.Last", "A"}},

		{sync.Mutex{}, nil},
		{atomic.Int64{}, nil},
		{struct {
			A      int
			mutex  sync.Mutex
			B      int
			rw     sync.RWMutex
			once   sync.Once
			group  sync.WaitGroup
			cond   sync.Cond
			table  sync.Map
			pool   sync.Pool
			C      int
			locker sync.Locker
		}{}, []string{"A", "B", "C", "locker"}},
		{struct {
			b    atomic.Bool
			A    bool
			i32  atomic.Int32
			i64  atomic.Int64
			u32  atomic.Uint32
			u64  atomic.Uint64
			word atomic.Uintptr
			at   atomic.Pointer[int]
			any  atomic.Value
			B    *atomic.Int64
		}{}, []string{"A", "B"}},
		{struct {
			timer  time.Timer
			ticker time.Ticker
			A      *time.Timer
			B      time.Time
			C      time.Duration
			D      time.Location
		}{}, []string{"A", "B.wall", "B.ext", "B.loc", "C", "D.name", "D.zone", "D.tx", "D.extend", "D.cacheStart", "D.cacheEnd", "D.cacheZone"}},
		{struct {
			weak weak.Pointer[int]
			A    unique.Handle[string]
		}{}, []string{"A.value"}},
		{struct {
			mutex ownMutex
			count ownAtomic
			timer ownTimer // of which package time has no function; its last bytes are padding
		}{}, []string{"timer.C", "timer.initTimer", "timer"}},

		{struct {
			transport http.Transport
			server    http.Server
			mux       http.ServeMux
			config    tls.Config
			resolver  net.Resolver
			vars      expvar.Map
			A         int
		}{}, []string{"A"}},
		{struct {
			A context.Context
			B reflect.Value
			C os.File
			D net.TCPConn
			E runtime.Pinner
			F runtime.Cleanup
			G netip.Addr
		}{}, []string{"A", "B.typ_", "B.ptr", "B.flag", "C.file", "D.conn.fd", "E.pinner", "F.id", "F.ptr", "G.addr.hi", "G.addr.lo", "G.z.value"}},
	} {
		object := reflect.TypeOf(tt.object)
		var got []string
		for offset, part := range LayoutOf(object).watched(make([]byte, object.Size())) {
			for i := range part {
				if name := FieldAt(object, uintptr(offset+i)); !slices.Contains(got, name) && (name != "" || object.Kind() != reflect.Struct) { // "" is padding
					got = append(got, name)
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("of %v these are watched: %q, want %q", object, got, tt.want)
		}
	}
}

// The elements of arrays and blocks are all alike, and what needs no Layout has none.
func TestLayoutOfMany(t *testing.T) {
	type element struct {
		A int32
		B atomic.Int32
	}
	type array struct {
		All  [3]element
		None [0]atomic.Int64
		B    int32
	}
	for _, tt := range []struct {
		object   reflect.Type
		elements int
		want     []part
	}{
		{reflect.TypeFor[element](), 3, []part{{0, 4}, {8, 12}, {16, 20}}},
		{reflect.TypeFor[array](), 2, []part{{0, 4}, {8, 12}, {16, 20}, {24, 32}, {32, 36}, {40, 44}, {48, 52}, {56, 64}}},
		{reflect.TypeFor[[2][2]element](), 1, []part{{0, 4}, {8, 12}, {16, 20}, {24, 28}}},
		{reflect.TypeFor[[8]atomic.Int64](), 2, nil},
		{reflect.TypeFor[[8]int64](), 2, []part{{0, 128}}},
	} {
		var got []part
		for offset, b := range LayoutOf(tt.object).watched(make([]byte, tt.elements*int(tt.object.Size()))) {
			got = append(got, part{offset, offset + len(b)})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("of %d of %v these are watched: %v, want %v", tt.elements, tt.object, got, tt.want)
		}
	}
	for _, whole := range []reflect.Type{reflect.TypeFor[byte](), reflect.TypeFor[[1 << 20]int64](), reflect.TypeFor[http.Request](), reflect.TypeFor[[0]sync.Mutex](), reflect.TypeFor[struct{}]()} {
		if l := LayoutOf(whole); l != nil {
			t.Errorf("%v has the layout %v", whole, *l)
		}
	}
}

// Of a sealed object the first watched part that has changed is reported, with all that lies around
// left out.
func TestSealLeavesOut(t *testing.T) {
	type element struct {
		A uint64
		B atomic.Uint64
		C uint64
	}
	d := newDesk()
	d.Layout = LayoutOf(reflect.TypeFor[element]())
	b := make([]byte, 2*24)
	d.getHere(b)
	idle := func(change func()) []misuse.Violation {
		d.putHere(b)
		d.Seal(at(b), b)
		change()
		d.getHere(b)
		return d.take()
	}
	if found := idle(func() {
		for i := range 8 {
			b[8+i], b[32+i] = 1, 1
		}
	}); found != nil {
		t.Errorf("of what is not watched: %v", found)
	}
	for _, tt := range []struct{ write, offset, written int }{{0, 0, 1}, {23, 23, 1}, {24, 24, 1}, {47, 47, 1}} {
		found := idle(func() { b[tt.write], b[10], b[35] = 2, b[10]+1, b[35]+1 })
		if len(found) != 1 || found[0].Kind != misuse.WriteAfterPut || found[0].Offset != tt.offset || found[0].Written != tt.written ||
			!slices.Equal(found[0].Old, []byte{0}) || !slices.Equal(found[0].New, []byte{2}) {
			t.Errorf("of a write at %d: %+v", tt.write, found)
		}
		b[tt.write] = 0
	}
}
