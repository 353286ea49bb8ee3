package dewsync

// This file has all that the package does with package unsafe.

import (
	"reflect"
	"unsafe"
)

// A word is one of the two words of an interface. The collector follows it: the data word
// keeps the object alive, and the type word a type that package reflect has made.
type word = unsafe.Pointer

// An eface is an any as the runtime has it. The first word is one for all values of a type.
// The second is the value, if it is a pointer, and else points to a copy that nobody
// changes, which may lie in read-only memory.
type eface struct{ typ, data word }

// split returns the words of an interface.
func split(x any) (typ, data word) {
	e := (*eface)(unsafe.Pointer(&x))
	return e.typ, e.data
}

// join returns the interface that has these words.
func join(typ, data word) (x any) {
	*(*eface)(unsafe.Pointer(&x)) = eface{typ, data}
	return x
}

// typeOf is the first word of split.
func typeOf(x any) word {
	typ, _ := split(x)
	return typ
}

// isNil reports whether an interface is nil, or holds a nil pointer, map, channel or
// function.
func isNil(x any) bool {
	if x == nil {
		return true
	}
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return v.IsNil()
	}
	if layoutIsKnown {
		_, data := split(x)
		return data == nil // a struct or an array of one nil pointer
	}
	return false
}

// layoutIsKnown says that split and join do what their comments say. If not, each object is
// kept in a box.
var layoutIsKnown = unsafe.Sizeof(any(nil)) == unsafe.Sizeof(eface{}) && agrees(split, join)

// agrees reports whether interfaces that are split and joined are as they were. Those are
// of each form that a value in an interface can have. It joins the type word of one value with the data
// word of another of its type, as a pool does.
func agrees(split func(any) (typ, data word), join func(typ, data word) any) bool {
	type pair struct {
		n int
		s string
	}
	made := reflect.StructOf([]reflect.StructField{{Name: "N", Type: reflect.TypeFor[int]()}, {Name: "S", Type: reflect.TypeFor[string]()}})
	of := func(n int) any {
		v := reflect.New(made).Elem()
		v.Field(0).SetInt(int64(n))
		return v.Interface()
	}
	one, two := new(int), new(int)
	types := map[word]bool{}
	forms := [][2]any{
		{one, two},
		{[]int{1}, []int{2, 3}},
		{pair{1, "a"}, pair{2, "b"}},
		{struct{}{}, struct{}{}},
		{7_000_000, 5},
		{of(1), of(2)},
		{map[int]int{1: 1}, map[int]int{2: 2}},
		{func() int { return *one }, func() int { return *two }},
		{struct{ p *int }{one}, struct{ p *int }{two}},
	}
	for _, form := range forms {
		typ, data := split(form[0])
		second, other := split(form[1])
		if typ == nil || data == nil || other == nil || typ != second || types[typ] {
			return false
		}
		types[typ] = true
		for i, data := range []word{data, other} {
			if got := join(typ, data); !same(got, form[i]) {
				return false
			}
		}
	}
	return true
}

// same reports whether two interfaces have the same type and the same value. Slices and maps
// are compared by what is in them, and functions by where they are.
func same(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	if v := reflect.ValueOf(a); v.Kind() == reflect.Func {
		return v.UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
	}
	return reflect.DeepEqual(a, b) && (reflect.ValueOf(a).Kind() != reflect.Pointer || a == b)
}
