package check

import (
	"iter"
	"reflect"
)

// A Layout says which bytes of a typed object are watched while it is idle, or of each element of
// a block. All but those that change although nothing uses the object: see [LayoutOf]. These are
// neither compared nor read, since a read would race with what writes them. A nil Layout watches
// all bytes.
type Layout struct {
	size  int    // of an object, in bytes
	parts []part // what is watched of it
}

// A part is a range of bytes of an object.
type part struct{ from, to int }

// LayoutOf returns the Layout of a type. It leaves out fields at any depth by value, in arrays and
// embedded structs too:
//
//   - Structs of the packages sync, sync/atomic and weak. At a garbage collection the runtime
//     empties a sync.Pool, and a goroutine that an idle object has may lock its mutex or count in
//     its atomics.
//   - time.Timer and time.Ticker, which are the runtime's.
//   - Structs of some other packages that contain one of these: see hasLock.
//
// What a pointer, a slice, a map, a channel, a function or an interface refers to is not part of the
// object, and nothing but the program changes those words: so context.Context, reflect.Value,
// os.File, a net.TCPConn and runtime.Pinner are watched. So are time.Time, time.Duration,
// unique.Handle, netip.Addr and runtime.Cleanup, which are plain data.
func LayoutOf(t reflect.Type) *Layout {
	l := &Layout{size: int(t.Size())}
	from := 0 // of the next part
	eachUnwatched(t, 0, func(at, end int) {
		if at == end {
			return
		}
		if from < at {
			l.parts = append(l.parts, part{from, at})
		}
		from = end
	})
	if from == 0 {
		return nil
	}
	if from < l.size {
		l.parts = append(l.parts, part{from, l.size})
	}
	return l
}

// eachUnwatched calls f with each range of bytes of a type at an offset that is not watched, in order.
func eachUnwatched(t reflect.Type, at int, f func(at, end int)) {
	switch t.Kind() {
	case reflect.Array:
		none := true
		eachUnwatched(t.Elem(), 0, func(int, int) { none = false })
		for i := 0; i < t.Len() && !none; i++ {
			eachUnwatched(t.Elem(), at+i*int(t.Elem().Size()), f)
		}
	case reflect.Struct:
		if isUnwatched(t) {
			f(at, at+int(t.Size()))
			return
		}
		for i := range t.NumField() {
			field := t.Field(i)
			start := at + int(field.Offset)
			if isShared(field.PkgPath) { // of a type that is defined as one of the package's
				f(start, start+int(field.Type.Size()))
				continue
			}
			eachUnwatched(field.Type, start, f)
		}
	}
}

// isShared reports whether a package has types that several goroutines, or the runtime, use at once.
func isShared(pkg string) bool {
	switch pkg {
	case "sync", "sync/atomic", "weak":
		return true
	}
	return false
}

// isUnwatched reports whether a struct may change as a whole although nothing uses the object that it
// is in.
func isUnwatched(t reflect.Type) bool {
	switch pkg := t.PkgPath(); pkg {
	case "time":
		return t.Name() == "Timer" || t.Name() == "Ticker"
	case "crypto/tls", "expvar", "net", "net/http", "net/textproto", library, library + "/dewsync":
		return hasLock(t)
	default:
		return isShared(pkg)
	}
}

// hasLock reports whether a struct of another package contains a lock or an atomic. Goroutines of the
// package, such as those of an http.Transport and an http.Server, write its plain fields too, as the
// first user of a zero Pool does.
func hasLock(t reflect.Type) (has bool) {
	for i := range t.NumField() {
		eachUnwatched(t.Field(i).Type, 0, func(int, int) { has = true })
	}
	return has
}

// watched yields the watched parts of an object or block, each with its offset.
func (l *Layout) watched(block []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if l == nil {
			yield(0, block)
			return
		}
		for at := 0; at < len(block); at += l.size {
			for _, p := range l.parts {
				if !yield(at+p.from, block[at+p.from:at+p.to]) {
					return
				}
			}
		}
	}
}
