package dewpond_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/bits"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// instruments/proof compares any sequence of calls with bytes.Buffer's results. Here
// is what bytes.Buffer has no equal of, and what random calls rarely meet.

func TestBufferHasEveryMethod(t *testing.T) {
	ours, theirs := reflect.TypeFor[*dewpond.Buffer](), reflect.TypeFor[*bytes.Buffer]()
	signature := func(m reflect.Method) string { // but for the receiver
		_, s, _ := strings.Cut(strings.ReplaceAll(m.Type.String(), "func("+m.Type.In(0).String(), "func("), "func(")
		return m.Name + "(" + strings.TrimPrefix(s, ", ")
	}
	for i := range theirs.NumMethod() {
		m := theirs.Method(i)
		if got, ok := ours.MethodByName(m.Name); !ok || signature(got) != signature(m) {
			t.Errorf("bytes.Buffer has %s; Buffer has it: %v, as %v", signature(m), ok, got.Type)
		}
	}
	own := []string{"Release", "Lease", "TryGrow", "Peek"} // bytes.Buffer has Peek from Go 1.26 on
	for i := range ours.NumMethod() {
		m := ours.Method(i)
		if _, ok := theirs.MethodByName(m.Name); !ok && !slices.Contains(own, m.Name) {
			t.Errorf("Buffer has %s, which bytes.Buffer has not", signature(m))
		}
	}
}

// go vet reports copies of a struct with a field whose pointer is a sync.Locker
// and whose value is not.
func TestBufferIsNoCopy(t *testing.T) {
	locker, buffer := reflect.TypeFor[sync.Locker](), reflect.TypeFor[dewpond.Buffer]()
	for i := range buffer.NumField() {
		if typ := buffer.Field(i).Type; reflect.PointerTo(typ).Implements(locker) && !typ.Implements(locker) {
			return
		}
	}
	t.Error("go vet lets a Buffer be copied")
}

// Each growth is one Get, of a block twice as large or the largest, and one Put.
func TestBufferGrowth(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 512, 1024, 4096, 6144}})
	b := p.Buffer()
	if s := p.Stats(); s.Gets != 0 {
		t.Errorf("%d Gets before the first write", s.Gets)
	}
	for i, want := range []int{512, 1024, 4096, 6144, 12288, 24576} {
		b.WriteByte('a')
		if b.Cap() != want {
			t.Errorf("the block after %d growths has %d bytes, want %d", i, b.Cap(), want)
		}
		s := p.Stats()
		if s.Gets != uint64(i+1) || s.Puts != uint64(i) {
			t.Errorf("after %d growths: %d Gets, %d Puts", i, s.Gets, s.Puts)
		}
		if inUse := int64(want); want <= 6144 && s.InUseBytes != inUse || want > 6144 && s.InUseBytes != 0 {
			t.Errorf("%d bytes are in use with a block of %d", s.InUseBytes, want)
		}
		b.WriteString(strings.Repeat("b", b.Available()))
	}
	b.Release()
	expect(t, p, dewpond.Stats{IdleBytes: 512 + 1024 + 4096 + 6144, DroppedOversize: 2})
}

// Past the largest class, too, many short writes copy each byte a few times only.
func TestBufferGrowsAmortized(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024}})
	b := p.Buffer()
	defer b.Release()
	for range 1 << 20 {
		b.WriteByte('a')
	}
	if s := p.Stats(); s.Oversize > 12 {
		t.Errorf("%d allocations past the largest class for 1 MiB in bytes", s.Oversize)
	}
}

func TestBufferGrowIsExact(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	for _, n := range []int{1, 64, 65, 1200, 70_000} {
		b := p.Buffer()
		b.Grow(n)
		block := p.Get(n)
		if b.Cap() != cap(block) {
			t.Errorf("Grow(%d) took a block of %d bytes, Get one of %d", n, b.Cap(), cap(block))
		}
		b.WriteString(strings.Repeat("a", n))
		if b.Cap() != cap(block) {
			t.Errorf("after Grow(%d) %d bytes needed another block", n, n)
		}
		p.Put(block)
		b.Release()
	}
}

// A Buffer keeps its block when it runs empty, and moves what is left down when
// that makes the room.
func TestBufferKeepsItsBlock(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	defer b.Release()
	b.Grow(1024)
	full := strings.Repeat("x", 1024)
	for range 3 {
		b.WriteString(full)
		b.Next(1024)
		b.WriteString(full) // after reading everything
		b.Reset()
		b.WriteString(full)
		b.WriteTo(io.Discard)
		b.WriteString(full)
		b.Truncate(0)
		b.WriteString(full[:600])
		b.Next(600)
		b.WriteString(full) // more than was read
		b.Next(800)
		b.WriteString(full[:500]) // 224 bytes are left
		io.Copy(io.Discard, iotest.OneByteReader(b))
	}
	if s := p.Stats(); s.Gets != 1 || b.Cap() != 1024 {
		t.Errorf("%d Gets, and a block of %d bytes at last; want the first, of 1024", s.Gets, b.Cap())
	}
}

func TestBufferRelease(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	b.Release() // of an empty one
	for range 3 {
		b.WriteString("hello")
		b.ReadByte()
		b.Release()
		b.Release()
		if b.Len() != 0 || b.Cap() != 0 || b.Bytes() != nil || b.UnreadByte() == nil {
			t.Errorf("after Release: Len %d, Cap %d, Bytes %q", b.Len(), b.Cap(), b.Bytes())
		}
	}
	if s := p.Stats(); s.Gets != 3 || s.Puts != 3 || s.InUseBytes != 0 {
		t.Errorf("%d Gets, %d Puts, %d bytes in use; want 3, 3, 0", s.Gets, s.Puts, s.InUseBytes)
	}
}

// Nothing of a released Buffer is left to the next owner of its block, nor
// of a block that was outgrown.
func TestBufferLeavesNothingBehind(t *testing.T) {
	secret := strings.Repeat("secret", 1000)
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet} {
		p := newPool(t, dewpond.BytePoolOptions{Zero: zero})
		for range 20 {
			b := p.Buffer()
			for i := range 60 {
				b.WriteString(secret[i*100 : i*100+100])
			}
			b.Next(3000)
			b.Truncate(10)
			copy(b.AvailableBuffer()[:b.Available()], secret)
			b.Release()

			var held [][]byte
			for _, size := range dewpond.DefaultClasses()[:30] {
				block := p.Get(size)
				if bytes.Count(block, []byte{0}) != size {
					t.Fatalf("policy %d: a block of %d bytes has some of the Buffer's", zero, size)
				}
				held = append(held, block)
			}
			again := p.Buffer()
			again.Grow(100)
			if free := again.AvailableBuffer(); bytes.Count(free[:cap(free)], []byte{0}) != cap(free) {
				t.Fatalf("policy %d: a new Buffer has bytes of the old one", zero)
			}
			again.Release()
			for _, block := range held {
				p.Put(block)
			}
		}
	}
}

// What is written may be part of the block that has to be given back, or of what
// is moved down.
func TestBufferWritesItsOwnBytes(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 32) // fills the first block
	tests := []struct {
		name string
		call func(b *dewpond.Buffer)
		want string
	}{
		{"Bytes", func(b *dewpond.Buffer) { b.Write(b.Bytes()) }, text + text},
		{"a part", func(b *dewpond.Buffer) { b.Write(b.Bytes()[500:]) }, text + text[500:]},
		{"Next", func(b *dewpond.Buffer) { b.Write(b.Next(100)) }, text[100:] + text[:100]},
		{"Next of much", func(b *dewpond.Buffer) { b.Write(b.Next(500)) }, text[500:] + text[:500]},
		{"Next of half", func(b *dewpond.Buffer) { b.Write(b.Next(256)) }, text[256:] + text[:256]},
		{"Next of more, part", func(b *dewpond.Buffer) { b.Write(b.Next(300)[100:]) }, text[300:] + text[100:300]},
		{"Next of all", func(b *dewpond.Buffer) { b.Write(b.Next(512)) }, text},
		{"AvailableBuffer past its cap", func(b *dewpond.Buffer) { b.Write(append(b.AvailableBuffer(), "more"...)) }, text + "more"},
		{"AvailableBuffer", func(b *dewpond.Buffer) {
			b.Truncate(500)
			b.Write(append(b.AvailableBuffer(), "more"...))
		}, text[:500] + "more"},
		{"a string", func(b *dewpond.Buffer) {
			b.WriteString(unsafe.String(unsafe.SliceData(b.Bytes()), b.Len()))
		}, text + text},
		{"itself", func(b *dewpond.Buffer) { b.WriteTo(b) }, ""},
	}
	for _, tt := range tests {
		p := newPool(t, dewpond.BytePoolOptions{Name: tt.name})
		b := p.Buffer()
		b.WriteString(text)
		if b.Available() != 0 {
			t.Fatalf("%d bytes are free, so this test cannot fail", b.Available())
		}
		tt.call(b)
		if got := b.String(); got != tt.want {
			t.Errorf("%s: %d bytes %.40q..., want %d bytes %.40q...", tt.name, len(got), got, len(tt.want), tt.want)
		}
		b.Release()
	}
}

func TestZeroBuffer(t *testing.T) {
	var b dewpond.Buffer
	b.Release()
	b.WriteString("hello")
	// Every test shares the default pool, so it is known by its classes.
	if b.String() != "hello" || !slices.Contains(dewpond.DefaultClasses(), b.Cap()) {
		t.Errorf("%q in a block of %d bytes", b.String(), b.Cap())
	}
	before := dewpond.Default().Stats().Puts
	b.Release()
	if puts := dewpond.Default().Stats().Puts - before; puts != 1 {
		t.Errorf("Release made %d Puts to the default pool", puts)
	}
	if s := (*dewpond.Buffer)(nil).String(); s != "<nil>" {
		t.Errorf("a nil Buffer prints as %q", s)
	}
	if s := (*dewpond.Buffer)(nil).String(); s != "<nil>" {
		t.Errorf("String of a nil Buffer: %q", s)
	}
}

func TestBufferOfNilPoolPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil pool made a Buffer on the default one")
		}
	}()
	var p *dewpond.BytePool
	p.Buffer()
}

func TestBufferOfClosedPool(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	b.WriteString("hello")
	p.Close()
	for range 1000 {
		b.WriteString(", hello")
	}
	if b.Len() != 7005 || b.Cap() != 8192 {
		t.Errorf("Len %d, Cap %d", b.Len(), b.Cap())
	}
	b.Release()
	want := dewpond.Stats{DroppedClosed: 5}
	if offHeap { // what a closed pool gives is the Go heap's
		want = dewpond.Stats{DroppedClosed: 1, DroppedFallback: 4}
	}
	expect(t, p, want)
}

func TestBufferOnSource(t *testing.T) {
	source := newFakeSource()
	p := newPool(t, dewpond.BytePoolOptions{Memory: source})
	b := p.Buffer()
	for range 1000 {
		b.WriteString("hello")
	}
	b.Release()
	p.Close()
	if out, twice := source.report(); out != 0 || twice != 0 {
		t.Errorf("%d blocks are out and %d freed twice", out, twice)
	}
	expect(t, p, dewpond.Stats{})
}

// If Read or Write panics the Buffer still has its contents and its block.
func TestBufferAfterPanic(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	b.WriteString("hello")
	for name, call := range map[string]func(){
		"ReadFrom": func() { b.ReadFrom(odd{n: -1}) },
		"Read":     func() { b.ReadFrom(odd{panics: true}) },
		"too many": func() { b.ReadFrom(odd{n: math.MaxInt}) },
		"Write":    func() { b.WriteTo(odd{panics: true}) },
		"WriteTo":  func() { b.WriteTo(odd{n: 6}) },
		"Grow":     func() { b.Grow(math.MaxInt) },
		"negative": func() { b.Grow(-1) },
		"Truncate": func() { b.Truncate(6) },
		"Next":     func() { b.Next(-1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
		if b.String() != "hello" {
			t.Errorf("after %s: %q", name, b.String())
		}
	}
	b.Release()
	if s := p.Stats(); s.InUseBytes != 0 || s.Gets != s.Puts {
		t.Errorf("%d bytes are in use after %d Gets and %d Puts", s.InUseBytes, s.Gets, s.Puts)
	}
}

// odd is a reader and writer that returns what is asked for.
type odd struct {
	n      int
	err    error
	panics bool
}

func (o odd) Read(p []byte) (int, error) {
	if o.panics {
		panic("odd")
	}
	return o.n, o.err
}

func (o odd) Write(p []byte) (int, error) { return o.Read(p) }

// A negative count from Write, with which a bytes.Buffer breaks, is returned as it
// is there and moves nothing.
func TestBufferNegativeWrite(t *testing.T) {
	b := newPool(t, dewpond.BytePoolOptions{}).Buffer()
	defer b.Release()
	b.WriteString("hello")
	for _, err := range []error{os.ErrClosed, nil} {
		n, got := b.WriteTo(odd{n: -1, err: err})
		if want := errors.Join(err, io.ErrShortWrite); n != -1 || !errors.Is(want, got) || err != nil && got != err {
			t.Errorf("WriteTo returned %d, %v", n, got)
		}
		if b.String() != "hello" {
			t.Errorf("after a count of -1 and %v: %q", err, b.String())
		}
	}
}

func TestBufferTooLarge(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	tooLarge := func(name string, b *dewpond.Buffer, n int) {
		t.Helper()
		defer func() {
			if r := recover(); r != any(bytes.ErrTooLarge) {
				t.Errorf("%s: panicked with %v", name, r)
			}
		}()
		b.Grow(n)
	}
	b := p.Buffer()
	if bits.UintSize == 64 { // where so much is surely not to be had
		tooLarge("an empty Buffer", b, math.MaxInt)
		tooLarge("an empty Buffer, within an int", b, math.MaxInt>>1)
	}
	b.WriteString("hello")
	tooLarge("an overflow", b, math.MaxInt)
	tooLarge("an overflow with the new cap", b, math.MaxInt-600)
	if b.String() != "hello" {
		t.Errorf("the contents afterwards: %q", b.String())
	}
	b.Release()
	expect(t, p, dewpond.Stats{IdleBytes: 512})
}

func TestBufferReadFromOddReaders(t *testing.T) {
	text := strings.Repeat("some text ", 1000)
	for name, r := range map[string]io.Reader{
		"one byte":    iotest.OneByteReader(strings.NewReader(text)),
		"half":        iotest.HalfReader(strings.NewReader(text)),
		"EOF at once": iotest.DataErrReader(strings.NewReader(text)),
	} {
		b := newPool(t, dewpond.BytePoolOptions{Name: name}).Buffer()
		if n, err := b.ReadFrom(r); n != int64(len(text)) || err != nil || b.String() != text {
			t.Errorf("%s: %d bytes of %d, %v", name, n, len(text), err)
		}
		b.Release()
	}
}

func TestBufferAllocations(t *testing.T) {
	notWatched(t, countsAlloc)
	p := newPool(t, dewpond.BytePoolOptions{})
	list := orders(8 << 10)
	local := func() {
		b := p.Buffer()
		defer b.Release()
		encodeOurs(b, list)
		b.WriteTo(io.Discard)
	}
	zero := func() {
		var b dewpond.Buffer
		defer b.Release()
		encodeOurs(&b, list)
	}
	try := func() {
		b := p.TryBuffer()
		defer b.Release()
		for i := range 5000 {
			b.WriteString("some text")
			b.WriteByte(byte(i))
			b.WriteRune('é')
		}
		b.WriteTo(io.Discard)
	}
	buffers := dewpond.MustPool(dewpond.PoolOptions[dewpond.Buffer]{New: p.Buffer, Reset: (*dewpond.Buffer).Release})
	pooled := func() {
		escaped = buffers.Get()
		encodeOurs(escaped, list)
		buffers.Put(escaped)
	}
	escaping := func() {
		escaped = p.Buffer()
		encodeOurs(escaped, list)
		escaped.Release()
	}
	for _, tt := range []struct {
		name string
		f    func()
		want float64
	}{{"a local one", local, 0}, {"a zero one", zero, 0}, {"a local TryBuffer", try, 0}, {"one of a Pool", pooled, 0}, {"an escaping one", escaping, 1}} {
		if got := allocsPerRun(1000, tt.f); got != tt.want {
			t.Errorf("%s makes %v allocations, want %v", tt.name, got, tt.want)
		}
	}
}

var escaped *dewpond.Buffer

// Many goroutines, each with Buffers of its own, on one pool.
func TestBuffersInParallel(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	var wg go125.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			piece := strings.Repeat(string(rune('a'+g)), 33)
			for i := range 200 {
				b := p.Buffer()
				for range i {
					b.WriteString(piece)
				}
				if n := strings.Count(b.String(), piece); n != i {
					t.Errorf("%d of %d pieces", n, i)
				}
				b.Release()
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.InUseBytes != 0 {
		t.Errorf("%d bytes are in use", s.InUseBytes)
	}
}

// What Grow has made room for needs no other block.
func TestBufferGrowIsEnoughForRunes(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	defer b.Release()
	b.Grow(64)
	for range b.Cap() {
		b.WriteRune('a')
	}
	if got := p.Stats().Gets; got != 1 {
		t.Errorf("%d blocks for what Grow made room for", got)
	}
}

// A Buffer that is kept nearly full of unread bytes, at the size of the largest class,
// does not copy them all at every write.
func TestBufferAsFullQueue(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 65536}})
	b := p.Buffer()
	defer b.Release()
	b.Write(make([]byte, 65536-64))
	for range 10_000 {
		b.Write(make([]byte, 64))
		b.Next(64)
	}
	if s := p.Stats(); s.Gets > 50 {
		t.Errorf("%d blocks for 10000 writes", s.Gets)
	}
}
