package dewsync_test

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond/dewsync"
)

func TestLayoutIsKnown(t *testing.T) {
	if !dewsync.LayoutIsKnown() || !dewsync.Agrees(dewsync.Split, dewsync.Join) {
		t.Error("interfaces are not as package dewsync has them: it boxes, and allocates")
	}
}

// Every other layout is seen.
func TestOtherLayoutsAreSeen(t *testing.T) {
	split, join := dewsync.Split, dewsync.Join
	type word = unsafe.Pointer
	last := any(nil)
	for what, other := range map[string]struct {
		split func(any) (word, word)
		join  func(word, word) any
	}{
		"the words are exchanged": {
			func(x any) (word, word) { typ, data := split(x); return data, typ },
			func(typ, data word) any { return join(data, typ) },
		},
		"all types have one word": {
			func(x any) (word, word) { last = x; _, data := split(x); return word(&last), data },
			func(_, data word) any { typ, _ := split(last); return join(typ, data) },
		},
		"each value has a type word":  {func(x any) (word, word) { _, data := split(x); return word(&[1]any{x}), data }, func(typ, _ word) any { return *(*any)(typ) }},
		"the value is elsewhere":      {func(x any) (word, word) { typ, _ := split(x); last = x; return typ, word(&last) }, func(word, word) any { return last }},
		"there is no data word":       {func(x any) (word, word) { typ, _ := split(x); return typ, nil }, join},
		"join forgets the type":       {split, func(_, data word) any { return data }},
		"join returns a copy":         {split, func(typ, data word) any { x := join(typ, data); return copied(x) }},
		"join returns the last value": {func(x any) (word, word) { last = x; return split(x) }, func(word, word) any { return last }},
	} {
		if dewsync.Agrees(other.split, other.join) {
			t.Errorf("not seen: %s", what)
		}
	}
}

// copied returns x, or if that is a pointer, one to a copy.
func copied(x any) any {
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Pointer {
		return x
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c.Interface()
}

// A type that package reflect has made lives as long as its objects, and they are whole after
// collections.
func TestTypesByReflect(t *testing.T) {
	oneProcessor(t)
	onBoth(t, func(t *testing.T) {
		var p dewsync.Pool
		const n = 100
		func() {
			of := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int]()}, {Name: "B", Type: reflect.TypeFor[*[1000]int]()}})
			for i := range n {
				v := reflect.New(of)
				v.Elem().Field(0).SetInt(int64(i))
				v.Elem().Field(1).Set(reflect.ValueOf(&[1000]int{999: i}))
				p.Put(v.Interface())
				p.Put(v.Elem().Interface()) // the second type
			}
		}()
		for range 3 {
			runtime.GC()
			garbage = make([]byte, 1<<20)
		}
		got := 0
		for x := p.Get(); x != nil; x = p.Get() {
			v := reflect.Indirect(reflect.ValueOf(x))
			if b := v.Field(1).Interface().(*[1000]int); int64(b[999]) != v.Field(0).Int() {
				t.Errorf("%d is %d", v.Field(0).Int(), b[999])
			}
			got++
		}
		if got != 2*n {
			t.Errorf("%d of %d come back", got, 2*n)
		}
	})
}

var garbage []byte
