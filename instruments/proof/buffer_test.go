package proof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"unicode/utf8"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/dewpond/dewpond"
)

// byteBuffer has the methods that bytes.Buffer and dewpond.Buffer share.
type byteBuffer interface {
	io.ReadWriter
	io.ReaderFrom
	io.WriterTo
	io.ByteScanner
	io.ByteWriter
	io.RuneScanner
	io.StringWriter
	fmt.Stringer
	Available() int
	AvailableBuffer() []byte
	Bytes() []byte
	Cap() int
	Grow(n int)
	Len() int
	Next(n int) []byte
	Peek(n int) ([]byte, error)
	ReadBytes(delim byte) ([]byte, error)
	ReadString(delim byte) (string, error)
	Reset()
	Truncate(n int)
	WriteRune(r rune) (int, error)
}

// A bufferCall calls either Buffer; it returns the results, slices as copies.
type bufferCall func(b byteBuffer) []any

// twins are a bytes.Buffer and a Buffer that get the same calls.
type twins struct {
	want    *bytes.Buffer
	got     *dewpond.Buffer
	try     bool              // got is refused a block of a closed pool
	pool    *dewpond.BytePool // of the Buffer alone; nil: the default pool
	classes []int
	zero    dewpond.ZeroPolicy
}

// bufferSteps counts the calls that the sequences make.
var bufferSteps int

// TestBufferIsBytesBuffer checks that any sequence of calls has the same results,
// errors, panics and contents as with bytes.Buffer, while another user of the pool
// fills each idle block with bytes of its own. With -dewpond.long it makes ten million
// calls.
func TestBufferIsBytesBuffer(t *testing.T) {
	steps := 40_000 // a rare sequence needs more than rapid's hundred times 30
	if *long {
		steps = 10_000_000
	}
	for bufferSteps = 0; bufferSteps < steps && !t.Failed(); {
		rapid.Check(t, anySequence)
	}
	t.Logf("%d calls", bufferSteps)
}

func anySequence(t *rapid.T) {
	w := &twins{want: new(bytes.Buffer), classes: []int{64, 256, 1024, 4096}}
	w.zero = rapid.SampledFrom([]dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever}).Draw(t, "Zero")
	o := dewpond.BytePoolOptions{Classes: w.classes, Zero: w.zero}
	switch rapid.SampledFrom([]string{"Buffer", "default", "TryBuffer"}).Draw(t, "kind") {
	case "Buffer":
		w.pool = dewpond.MustBytePool(o)
		w.got = w.pool.Buffer()
	case "default":
		w.got = new(dewpond.Buffer)
		w.classes = dewpond.DefaultClasses()
	case "TryBuffer":
		w.pool = dewpond.MustBytePool(o)
		w.got, w.try = w.pool.TryBuffer(), true
	}
	if w.pool != nil {
		defer w.pool.Close()
	}
	t.Repeat(map[string]func(*rapid.T){
		"write": func(t *rapid.T) {
			p := piece(t)
			w.write(t, len(p), func(b byteBuffer) []any { return results(b.Write(p)) })
		},
		"writeString": func(t *rapid.T) {
			s := string(piece(t))
			w.write(t, len(s), func(b byteBuffer) []any { return results(b.WriteString(s)) })
		},
		"writeByte": func(t *rapid.T) {
			c := rapid.Byte().Draw(t, "c")
			w.write(t, 1, func(b byteBuffer) []any { return []any{b.WriteByte(c)} })
		},
		"writeRune": func(t *rapid.T) {
			r := anyRune(t)
			w.write(t, len(string(r)), func(b byteBuffer) []any { return results(b.WriteRune(r)) })
		},
		"writeNothing": func(t *rapid.T) {
			w.write(t, 0, func(b byteBuffer) []any { return results(b.Write(nil)) })
			w.write(t, 0, func(b byteBuffer) []any { return results(b.WriteString("")) })
		},
		"writeOwn":  w.writeOwn,
		"available": w.available,
		"grow":      w.grow,
		"readFrom":  w.readFrom,
		"read": func(t *rapid.T) {
			n := w.count(t, 0)
			w.do(t, func(b byteBuffer) []any {
				p := make([]byte, n)
				m, err := b.Read(p)
				return []any{m, err, p}
			})
		},
		"next": func(t *rapid.T) {
			n := w.count(t, -2)
			w.do(t, func(b byteBuffer) []any { return []any{bytes.Clone(b.Next(n))} })
		},
		"peek": func(t *rapid.T) {
			n := w.count(t, -2)
			w.do(t, func(b byteBuffer) []any { p, err := b.Peek(n); return []any{bytes.Clone(p), err} })
		},
		"readByte": func(t *rapid.T) { w.do(t, func(b byteBuffer) []any { return results(b.ReadByte()) }) },
		"readRune": func(t *rapid.T) {
			w.do(t, func(b byteBuffer) []any { r, n, err := b.ReadRune(); return []any{r, n, err} })
		},
		"readBytes": func(t *rapid.T) {
			c := rapid.SampledFrom([]byte("ab\x00")).Draw(t, "delim")
			w.do(t, func(b byteBuffer) []any { return results(b.ReadBytes(c)) })
		},
		"readString": func(t *rapid.T) {
			c := rapid.SampledFrom([]byte("ab\x00")).Draw(t, "delim")
			w.do(t, func(b byteBuffer) []any { return results(b.ReadString(c)) })
		},
		"unreadByte": func(t *rapid.T) { w.do(t, func(b byteBuffer) []any { return []any{b.UnreadByte()} }) },
		"unreadRune": func(t *rapid.T) { w.do(t, func(b byteBuffer) []any { return []any{b.UnreadRune()} }) },
		"writeTo":    w.writeTo,
		"reset":      func(t *rapid.T) { w.do(t, func(b byteBuffer) []any { b.Reset(); return nil }) },
		"truncate": func(t *rapid.T) {
			n := w.count(t, -2)
			w.do(t, func(b byteBuffer) []any { b.Truncate(n); return nil })
		},
		"release": func(*rapid.T) {
			w.got.Release()
			w.want = new(bytes.Buffer)
		},
		"close": func(t *rapid.T) {
			if !w.try && w.pool != nil && rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				w.pool.Close()
			}
		},
		"": w.check,
	})
	w.got.Release()
	if w.pool != nil && w.pool.Stats().InUseBytes != 0 {
		t.Fatalf("%d bytes are in use after Release", w.pool.Stats().InUseBytes)
	}
}

// do makes a call on both and compares the results.
func (w *twins) do(t *rapid.T, c bufferCall) {
	want, wantPanic := outcome(c, w.want)
	got, gotPanic := outcome(c, w.got)
	if !samePanic(gotPanic, wantPanic) {
		t.Fatalf("panicked with %v, bytes.Buffer with %v", gotPanic, wantPanic)
	}
	if !slices.EqualFunc(got, want, sameResult) {
		t.Fatalf("returned %.200q, bytes.Buffer %.200q", got, want)
	}
}

// write makes a call that writes n bytes, and takes no block if there is room for them.
func (w *twins) write(t *rapid.T, n int, c bufferCall) {
	room, size := w.got.Available() >= n, w.got.Cap()
	w.do(t, c)
	if room && size != w.got.Cap() {
		t.Fatalf("a write of %d bytes, for which there was room, took a block", n)
	}
}

func outcome(c bufferCall, b byteBuffer) (results []any, panicked any) {
	defer func() { panicked = recover() }()
	return c(b), nil
}

func results[T any](v T, err error) []any { return []any{v, err} }

// sameResult compares two results. Errors are the same if they are equal or have the
// same text.
func sameResult(a, b any) bool {
	errA, ok := a.(error)
	errB, _ := b.(error)
	if !ok {
		return reflect.DeepEqual(a, b)
	}
	return errA == errB || reflect.TypeOf(errA) == reflect.TypeOf(errB) && errA.Error() == errB.Error()
}

// samePanic treats all run-time errors as the same, because their texts have caps.
func samePanic(a, b any) bool {
	_, runtimeA := a.(runtime.Error)
	_, runtimeB := b.(runtime.Error)
	return runtimeA && runtimeB || sameResult(a, b)
}

// check compares everything that can be observed without a change.
func (w *twins) check(t *rapid.T) {
	bufferSteps++
	w.fillIdle(t)
	w.do(t, func(b byteBuffer) []any {
		return []any{bytes.Clone(b.Bytes()), b.String(), b.Len(), len(b.AvailableBuffer())}
	})
	size := w.got.Cap()
	if free := w.got.Available(); free < 0 || free+w.got.Len() > size || cap(w.got.AvailableBuffer()) != free {
		t.Fatalf("%d of %d bytes available after %d", free, size, w.got.Len())
	}
	largest := w.classes[len(w.classes)-1]
	if size != 0 && size <= largest && !slices.Contains(w.classes, size) {
		t.Fatalf("a block of %d bytes, which is no class", size)
	}
	if w.pool != nil {
		inUse := int64(0)
		if size <= largest {
			inUse = int64(size)
		}
		if s := w.pool.Stats(); s.InUseBytes != inUse || s.Dropped.Foreign != 0 {
			t.Fatalf("%d bytes in use with a block of %d, %d foreign Puts", s.InUseBytes, size, s.Dropped.Foreign)
		}
	}
	if w.want.Len() > 30_000 {
		w.do(t, func(b byteBuffer) []any { b.Truncate(100); return nil })
	}
}

// fillIdle acts as another user of the pool: a Buffer that still used a block that it
// gave back would lose its contents.
func (w *twins) fillIdle(t *rapid.T) {
	if w.pool == nil {
		return
	}
	var all [][]byte
	for _, size := range w.classes {
		for range 2 {
			p := w.pool.Get(size)
			if w.zero != dewpond.ZeroNever && bytes.Count(p, []byte{0}) != len(p) {
				t.Fatalf("a block of %d bytes still has bytes of the Buffer", size)
			}
			for i := range p {
				p[i] = 0xFF
			}
			all = append(all, p)
		}
	}
	for _, p := range all {
		w.pool.Put(p)
	}
}

// count draws a number of bytes: few, or about all, or more than all.
func (w *twins) count(t *rapid.T, least int) int {
	n := w.want.Len()
	return max(least, rapid.OneOf(
		rapid.IntRange(least, 20), rapid.IntRange(n-3, n+3), rapid.IntRange(0, n),
	).Draw(t, "n"))
}

// piece draws something to write: mostly short, sometimes past several classes, and
// either text or bytes that differ at every position.
func piece(t *rapid.T) []byte {
	n := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(50, 300), rapid.IntRange(900, 6000)).Draw(t, "length")
	if rapid.Bool().Draw(t, "text") {
		const text = "héllo, 世界 \xff\U0001F600\x00ab"
		return bytes.Repeat([]byte(text), n/len(text)+1)[:n]
	}
	p := make([]byte, n)
	for i, x := 0, rapid.Uint32().Draw(t, "seed"); i < n; i++ {
		x = x*1664525 + 1013904223
		p[i] = byte(x >> 24)
	}
	return p
}

func anyRune(t *rapid.T) rune {
	return rapid.OneOf(
		rapid.Rune(), rapid.Int32(),
		rapid.SampledFrom([]rune{'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd800, 0xdfff, 0xffff, 0x10000, utf8.MaxRune, utf8.MaxRune + 1, -1, math.MinInt32}),
	).Draw(t, "rune")
}

// writeOwn writes what the Buffer itself has just returned.
func (w *twins) writeOwn(t *rapid.T) {
	if w.want.Len() > 20_000 {
		t.Skip()
	}
	n := min(w.count(t, 0), w.want.Len())
	switch rapid.SampledFrom([]string{"Bytes", "a part", "a string", "Next", "Peek"}).Draw(t, "source") {
	case "Bytes":
		w.do(t, func(b byteBuffer) []any { return results(b.Write(b.Bytes())) })
	case "a part":
		w.do(t, func(b byteBuffer) []any { return results(b.Write(b.Bytes()[n:])) })
	case "a string":
		w.do(t, func(b byteBuffer) []any {
			p := b.Bytes()[n:]
			return results(b.WriteString(unsafe.String(unsafe.SliceData(p), len(p))))
		})
	case "Next":
		w.do(t, func(b byteBuffer) []any { return results(b.Write(b.Next(n))) })
	case "Peek":
		w.do(t, func(b byteBuffer) []any { p, _ := b.Peek(n); return results(b.Write(p)) })
	}
}

func (w *twins) available(t *rapid.T) {
	p := piece(t)
	if rapid.Bool().Draw(t, "fits") {
		p = p[:min(len(p), w.want.Available(), w.got.Available())]
	}
	w.do(t, func(b byteBuffer) []any { return results(b.Write(append(b.AvailableBuffer(), p...))) })
}

func (w *twins) grow(t *rapid.T) {
	n := rapid.OneOf(
		rapid.IntRange(-2, 100), rapid.IntRange(0, 9000),
		rapid.SampledFrom([]int{math.MinInt, math.MaxInt, math.MaxInt - 5000}),
	).Draw(t, "n")
	moved := n > min(w.want.Available(), w.got.Available())
	w.do(t, func(b byteBuffer) []any { b.Grow(n); return nil })
	if n >= 0 && w.got.Available() < n && n < math.MaxInt/2 {
		t.Fatalf("Grow(%d) left room for %d bytes", n, w.got.Available())
	}
	if moved {
		// Whether Unread has anything to undo after a Grow depends on the cap.
		w.do(t, func(b byteBuffer) []any { return results(b.Write(nil)) })
	}
}

// A step is what a Read or Write does, and then returns.
type step struct {
	Kind string
	N    int
	Err  error
}

var errOdd = errors.New("odd")

// A script is a reader and writer that makes the steps in turn, then returns EOF.
type script struct {
	steps []step
	took  []byte
}

func (s *script) next() step {
	if len(s.steps) == 0 {
		return step{Err: io.EOF}
	}
	first := s.steps[0]
	s.steps = s.steps[1:]
	return first
}

func (s *script) Read(p []byte) (int, error) {
	if len(p) < bytes.MinRead {
		return 0, fmt.Errorf("Read of %d bytes", len(p))
	}
	x := s.next()
	for i := range p { // a Read may write to all of p
		p[i] = byte('a' + i%26)
	}
	switch x.Kind {
	case "panic":
		panic("odd reader")
	case "negative":
		return -1 - x.N, x.Err
	case "too many":
		return len(p) + 1 + x.N, x.Err
	}
	return min(x.N, bytes.MinRead), x.Err
}

func (s *script) Write(p []byte) (int, error) {
	x := s.next()
	n := min(x.N, len(p))
	if x.Kind == "all" {
		n = len(p)
	}
	s.took = append(s.took, p[:n]...)
	switch x.Kind {
	case "panic":
		panic("odd writer")
	case "negative":
		return -1 - x.N, x.Err
	case "too many":
		return len(p) + 1 + x.N, x.Err
	}
	return n, x.Err
}

func anyStep(t *rapid.T) step {
	return step{
		Kind: rapid.SampledFrom([]string{"", "", "", "all", "all", "panic", "negative", "too many"}).Draw(t, "kind"),
		N:    rapid.IntRange(0, 600).Draw(t, "count"),
		Err:  rapid.SampledFrom([]error{nil, nil, nil, io.EOF, errOdd}).Draw(t, "err"),
	}
}

func (w *twins) readFrom(t *rapid.T) {
	steps := rapid.SliceOfN(rapid.Custom(anyStep), 0, 12).Draw(t, "reader")
	w.do(t, func(b byteBuffer) []any { return results(b.ReadFrom(&script{steps: steps})) })
}

func (w *twins) writeTo(t *rapid.T) {
	x := anyStep(t)
	w.do(t, func(b byteBuffer) []any {
		s := &script{steps: []step{x}}
		n, err := b.WriteTo(s)
		return []any{n, err, s.took}
	})
	if x.Kind == "negative" {
		// bytes.Buffer goes back by as much, past its own start.
		w.want.Reset()
		w.got.Reset()
	}
}
