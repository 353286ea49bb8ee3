package dewpond_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
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
	expect(t, p, dewpond.Stats{IdleBytes: 512 + 1024 + 4096 + 6144, Dropped: dewpond.DropStats{Oversize: 2}})
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
	want := dewpond.Stats{Dropped: dewpond.DropStats{Closed: 5}}
	if offHeap { // what a closed pool gives is the Go heap's
		want = dewpond.Stats{Dropped: dewpond.DropStats{Closed: 1, Fallback: 4}}
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

// pieceBody builds a body of n bytes in pieces, and ends it as one of the ways of doing so.
func pieceBody(p *dewpond.BytePool, n, way int) {
	piece := make([]byte, 50)
	b := p.Buffer()
	defer b.Release()
	for n > 0 {
		m, _ := b.Write(piece[:min(n, len(piece))])
		n -= m
	}
	switch way % 4 {
	case 0:
		b.WriteTo(io.Discard)
	case 1:
		io.Copy(io.Discard, struct{ io.Reader }{b})
	case 2:
		b.Reset()
	}
}

// A pool learns the size of bodies, whichever way they end: then each takes one block, which
// is at most a class too large. It forgets it too.
func TestBuffersLearnTheirFirstBlock(t *testing.T) {
	classes := dewpond.DefaultClasses()
	for way := range 4 {
		p := newPool(t, dewpond.BytePoolOptions{})
		for _, size := range []int{100, 1250, 8600, 200_000, 3000, 100} {
			fits, _ := slices.BinarySearch(classes, max(size, 512))
			most := classes[min(fits+1, len(classes)-1)]
			for i := 0; dewpond.FirstBlock(p) < size || dewpond.FirstBlock(p) > most; i++ {
				if i == 100_000 {
					t.Fatalf("the first block for bodies of %d bytes is still of %d", size, dewpond.FirstBlock(p))
				}
				pieceBody(p, size, way)
			}
			settled := dewpond.FirstBlock(p)
			before := p.Stats().Gets
			for range 1000 {
				pieceBody(p, size, way)
			}
			if gets := p.Stats().Gets - before; gets != 1000 {
				t.Errorf("1000 bodies of %d bytes take %d blocks", size, gets)
			}
			if got := dewpond.FirstBlock(p); got > settled || got < size {
				t.Errorf("the first block for bodies of %d bytes went from %d to %d", size, settled, got)
			}
		}
	}
}

// A few large bodies do not make all bodies take large blocks.
func TestFewLargeBodiesTeachNothing(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	const bodies = 20_000
	sum := 0
	for i := range bodies {
		if i%25 == 24 {
			pieceBody(p, 64<<10, i)
		} else {
			pieceBody(p, 1200, i)
		}
		sum += dewpond.FirstBlock(p)
	}
	if mean := sum / bodies; mean > 4096 {
		t.Errorf("the first block had %d bytes on average, for 24 bodies of 1200 and then one of 64 KiB", mean)
	}
}

// What a Buffer is told, or takes in one piece, teaches the pool nothing.
func TestFirstBlockIsLearnedFromPieces(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	for range 1000 {
		b := p.Buffer()
		b.Grow(20_000)
		b.Write(make([]byte, 20_000))
		b.Release()
		b.Write(make([]byte, 20_000))
		b.Release()
	}
	if got := dewpond.FirstBlock(p); got != 512 {
		t.Errorf("the first block has %d bytes", got)
	}
}

// The first block is a class, whatever the classes are.
func TestFirstBlockIsAClass(t *testing.T) {
	for _, classes := range [][]int{{64}, {64, 256}, {1024}, {64, 512, 65536}} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: classes})
		for i := range 1000 {
			pieceBody(p, 3000*(i%4), i)
			if got := dewpond.FirstBlock(p); !slices.Contains(classes, got) {
				t.Fatalf("classes %v: the first block has %d bytes", classes, got)
			}
		}
	}
}

// Every call leaves a Buffer that knows how far it may fill its block, also a call that
// panics.
func TestBufferLimit(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	text := bytes.Repeat([]byte("0123456789"), 10)
	calls := map[string]func(b *dewpond.Buffer){
		"nothing":      func(b *dewpond.Buffer) {},
		"Write":        func(b *dewpond.Buffer) { b.Write(text) },
		"WriteString":  func(b *dewpond.Buffer) { b.WriteString(string(text)) },
		"WriteByte":    func(b *dewpond.Buffer) { b.WriteByte('a') },
		"WriteRune":    func(b *dewpond.Buffer) { b.WriteRune('世') },
		"write much":   func(b *dewpond.Buffer) { b.Write(make([]byte, 2000)) },
		"in place":     func(b *dewpond.Buffer) { b.Write(append(b.AvailableBuffer(), text...)) },
		"Grow":         func(b *dewpond.Buffer) { b.Grow(700) },
		"Grow too far": func(b *dewpond.Buffer) { b.Grow(-1) },
		"ReadFrom":     func(b *dewpond.Buffer) { b.ReadFrom(bytes.NewReader(text)) },
		"odd ReadFrom": func(b *dewpond.Buffer) { b.ReadFrom(odd{n: -1}) },
		"odd WriteTo":  func(b *dewpond.Buffer) { b.WriteTo(odd{n: 1 << 30}) },
		"Read":         func(b *dewpond.Buffer) { b.Read(make([]byte, 10)) },
		"Read nothing": func(b *dewpond.Buffer) { b.Read(nil) },
		"Next":         func(b *dewpond.Buffer) { b.Next(90) },
		"Next of -1":   func(b *dewpond.Buffer) { b.Next(-1) },
		"ReadByte":     func(b *dewpond.Buffer) { b.ReadByte() },
		"ReadRune":     func(b *dewpond.Buffer) { b.ReadRune() },
		"ReadBytes":    func(b *dewpond.Buffer) { b.ReadBytes('9') },
		"UnreadByte":   func(b *dewpond.Buffer) { b.UnreadByte() },
		"UnreadRune":   func(b *dewpond.Buffer) { b.UnreadRune() },
		"Truncate":     func(b *dewpond.Buffer) { b.Truncate(b.Len() / 2) },
		"Truncate -1":  func(b *dewpond.Buffer) { b.Truncate(-1) },
		"Reset":        func(b *dewpond.Buffer) { b.Reset() },
		"WriteTo":      func(b *dewpond.Buffer) { b.WriteTo(io.Discard) },
		"Release":      func(b *dewpond.Buffer) { b.Release() },
	}
	for one, first := range calls {
		for two, second := range calls {
			for three, third := range calls {
				b := p.Buffer()
				for _, call := range []func(*dewpond.Buffer){first, second, third} {
					panics(func() { call(b) })
					if !dewpond.LimitIsRight(b) {
						t.Fatalf("after %s, %s and %s, or as many of them, the limit is wrong", one, two, three)
					}
				}
				b.Release()
			}
		}
	}
}

// instruments/proof has what any sequence of calls must keep to.

// refusals are the writes that need a block for n bytes more, all of which may be refused.
func refusals(b *dewpond.Buffer, n int) map[string]func() (int, error) {
	p := bytes.Repeat([]byte("b"), n)
	return map[string]func() (int, error){
		"Write":       func() (int, error) { return b.Write(p) },
		"WriteString": func() (int, error) { return b.WriteString(string(p)) },
		"WriteByte":   func() (int, error) { return 0, b.WriteByte('b') },
		"WriteRune":   func() (int, error) { return b.WriteRune('b') },
		"WriteRune 3": func() (int, error) { return b.WriteRune('世') },
		"itself":      func() (int, error) { return b.Write(b.Bytes()) },
		"TryGrow":     func() (int, error) { return 0, b.TryGrow(n) },
		"ReadFrom": func() (int, error) {
			n, err := b.ReadFrom(bytes.NewReader(p))
			return int(n), err
		},
	}
}

// Whatever refuses a TryBuffer a block, the write returns the error, writes nothing and
// leaves the contents whole, and what was refused is counted once.
func TestTryBufferRefused(t *testing.T) {
	text := strings.Repeat("a", 512)
	errNoMemory := errors.New("no memory")
	for _, tt := range []struct {
		name   string
		budget int64
		limit  int
		want   error
		full   func(t *testing.T, p *dewpond.BytePool, source *fakeSource) // makes the next block one too many
	}{
		{name: "Budget", budget: 600, want: dewpond.ErrExhausted},
		{name: "AllocRate", limit: 1, want: dewpond.ErrExhausted},
		{name: "Close", want: dewpond.ErrClosed, full: func(_ *testing.T, p *dewpond.BytePool, _ *fakeSource) { p.Close() }},
		{name: "Source", want: errNoMemory, full: func(_ *testing.T, _ *dewpond.BytePool, s *fakeSource) { s.fail = errNoMemory }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in which AllocRate allows no more
				o := dewpond.BytePoolOptions{AllocRate: tt.limit}
				if tt.budget > 0 {
					o.Budget = dewpond.MustBudget("", tt.budget)
				}
				source := newFakeSource()
				if tt.want == errNoMemory {
					o.Memory = source
				}
				p := newPool(t, o)
				b := p.TryBuffer()
				defer b.Release()
				if n, err := b.WriteString(text); n != 512 || err != nil || b.Available() != 0 {
					t.Fatalf("the first write returned %d, %v, and has room for %d more", n, err, b.Available())
				}
				if tt.full != nil {
					tt.full(t, p, source)
				}
				for name, call := range refusals(b, 100) {
					before := p.Stats().Refused
					n, err := call()
					if n != 0 || !errors.Is(err, tt.want) {
						t.Errorf("%s returned %d, %v, want %v", name, n, err, tt.want)
					}
					if b.String() != text {
						t.Errorf("%s left %.100q", name, b)
					}
					if tt.want == dewpond.ErrClosed {
						before-- // is no refusal
					}
					if got := p.Stats().Refused - before; got != 1 {
						t.Errorf("%s is counted as refused %d times", name, got)
					}
				}
				// What needs no block is not refused.
				b.Next(12)
				b.Truncate(490)
				if n, err := b.WriteString("0123456789"); n != 10 || err != nil {
					t.Errorf("a write with room for it returned %d, %v", n, err)
				}
				if n, err := b.Write(nil); n != 0 || err != nil {
					t.Errorf("a write of nothing returned %d, %v", n, err)
				}
				if want := text[:490] + "0123456789"; b.String() != want {
					t.Errorf("holds %.100q in the end", b)
				}
			})
		})
	}
}

// If there is no room for a block twice as large, a TryBuffer takes one that just fits, and
// goes on when there is room again.
func TestTryBufferTakesWhatFits(t *testing.T) {
	budget := dewpond.MustBudget("", 512+2048+768)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, 768, 1024, 2048}, Budget: budget})
	b := p.TryBuffer()
	defer b.Release()
	b.WriteString(strings.Repeat("a", 512))
	other, err := p.TryGet(2048)
	if err != nil {
		t.Fatal(err)
	}
	for b.Len() < 768 {
		if err := b.WriteByte('a'); err != nil || b.Cap() != 768 {
			t.Fatalf("byte %d: %v, in a block of %d bytes", b.Len(), err, b.Cap())
		}
	}
	if err := b.WriteByte('a'); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("with %d of %d used: %v", budget.Used(), budget.Limit(), err)
	}
	p.Put(other)
	if err := b.WriteByte('a'); err != nil || b.Len() != 769 || b.Cap() != 2048 {
		t.Errorf("with room again: %v, and %d bytes in a block of %d", err, b.Len(), b.Cap())
	}
	if s := p.Stats(); s.OverBudget != 0 {
		t.Errorf("past the Budget %d times", s.OverBudget)
	}
}

// Above the largest class, many small writes near the limit do not copy everything each time.
func TestTryBufferGrowsAmortizedToItsLimit(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024}, Budget: dewpond.MustBudget("", 1<<20)})
	b := p.TryBuffer()
	defer b.Release()
	var err error
	for err == nil {
		err = b.WriteByte('a')
	}
	if !errors.Is(err, dewpond.ErrExhausted) || b.Len() < 1<<18 {
		t.Errorf("%v after %d bytes", err, b.Len())
	}
	if s := p.Stats(); s.Oversize > 40 {
		t.Errorf("%d slices above the largest class for %d bytes", s.Oversize, b.Len())
	}
}

// ReadFrom keeps and counts what it reads until it is refused and full, and reads no more
// than it keeps.
func TestTryBufferReadFrom(t *testing.T) {
	text := strings.Repeat("0123456789", 200)
	for name, reader := range map[string]func(io.Reader) io.Reader{
		"all":  func(r io.Reader) io.Reader { return r },
		"half": iotest.HalfReader,
		"one":  iotest.OneByteReader,
	} {
		p := newPool(t, dewpond.BytePoolOptions{Name: name, Classes: []int{512, 1024}, Budget: dewpond.MustBudget("", 1536)})
		b, r := p.TryBuffer(), strings.NewReader(text)
		n, err := b.ReadFrom(reader(r))
		if n != 1024 || !errors.Is(err, dewpond.ErrExhausted) || b.String() != text[:1024] || r.Len() != 2000-1024 {
			t.Errorf("%s: %d, %v, holds %d bytes, and %d are left", name, n, err, b.Len(), r.Len())
		}
		if n := p.Stats().Refused; n > 4 { // it asks before its block is full, and then, each time twice
			t.Errorf("%s: it has asked %d times in vain", name, n)
		}
		b.Reset()
		if n, err := b.ReadFrom(reader(r)); n != 2000-1024 || err != nil || b.String() != text[1024:] {
			t.Errorf("%s, the rest: %d, %v", name, n, err)
		}
		b.Release()
	}
}

// Grow says nothing of a refusal, which is counted, and does nothing then. A Buffer that is
// never refused grows by TryGrow too.
func TestGrowIsRefused(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64)})
	b := p.TryBuffer()
	defer b.Release()
	if b.Grow(100); b.Cap() != 0 || p.Stats().Refused != 1 {
		t.Errorf("a block of %d bytes after %d refusals", b.Cap(), p.Stats().Refused)
	}
	other := p.Buffer()
	defer other.Release()
	if err := other.TryGrow(100); err != nil || other.Available() < 100 {
		t.Errorf("%v, and %d bytes are available", err, other.Available())
	}
}

func TestTryBufferOfNilPoolPanics(t *testing.T) {
	if panics(func() { (*dewpond.BytePool)(nil).TryBuffer() }) == "" {
		t.Error("a nil pool made a Buffer on the default one")
	}
}

// An order is a record of about 100 bytes of JSON.
type order struct {
	ID     int    `json:"id"`
	Symbol string `json:"symbol"`
	Side   string `json:"side"`
	Price  string `json:"price"`
	Amount string `json:"amount"`
	Client string `json:"client"`
}

// orders has about so many bytes of JSON.
func orders(size int) []order {
	list := make([]order, (size+99)/100)
	for i := range list {
		list[i] = order{100_000 + i, "BTC-USD", "buy", "64123.50", "0.00250000", "c-90210-7"}
	}
	return list
}

// encodeOurs and encodeTheirs are one encoder written twice, as generated ones are:
// many short pieces, and no call through an interface.
func encodeOurs(b *dewpond.Buffer, list []order) {
	b.WriteByte('[')
	for i := range list {
		o := &list[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(o.ID), 10))
		b.WriteString(`,"symbol":"`)
		b.WriteString(o.Symbol)
		b.WriteString(`","side":"`)
		b.WriteString(o.Side)
		b.WriteString(`","price":"`)
		b.WriteString(o.Price)
		b.WriteString(`","amount":"`)
		b.WriteString(o.Amount)
		b.WriteString(`","client":"`)
		b.WriteString(o.Client)
		b.WriteString(`"}`)
	}
	b.WriteByte(']')
}

func encodeTheirs(b *bytes.Buffer, list []order) {
	b.WriteByte('[')
	for i := range list {
		o := &list[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(o.ID), 10))
		b.WriteString(`,"symbol":"`)
		b.WriteString(o.Symbol)
		b.WriteString(`","side":"`)
		b.WriteString(o.Side)
		b.WriteString(`","price":"`)
		b.WriteString(o.Price)
		b.WriteString(`","amount":"`)
		b.WriteString(o.Amount)
		b.WriteString(`","client":"`)
		b.WriteString(o.Client)
		b.WriteString(`"}`)
	}
	b.WriteByte(']')
}

// A builder builds a body in a buffer and writes it out.
type builder interface {
	pieces(w io.Writer, list []order) // by the encoder above
	json(w io.Writer, list []order)   // by encoding/json, which makes one Write
}

type oursPooled struct {
	pool *dewpond.BytePool
	grow bool // to about the size of the body, before the first write
}

func (x oursPooled) prepare(b *dewpond.Buffer, list []order) {
	if x.grow {
		b.Grow(105 * len(list))
	}
}

func (x oursPooled) pieces(w io.Writer, list []order) {
	b := x.pool.Buffer()
	defer b.Release()
	x.prepare(b, list)
	encodeOurs(b, list)
	b.WriteTo(w)
}

func (x oursPooled) json(w io.Writer, list []order) {
	b := x.pool.Buffer()
	defer b.Release()
	x.prepare(b, list)
	json.NewEncoder(b).Encode(list)
	b.WriteTo(w)
}

type theirsFresh struct{}

func (theirsFresh) pieces(w io.Writer, list []order) {
	var b bytes.Buffer
	encodeTheirs(&b, list)
	b.WriteTo(w)
}

func (theirsFresh) json(w io.Writer, list []order) {
	var b bytes.Buffer
	json.NewEncoder(&b).Encode(list)
	b.WriteTo(w)
}

type theirsPooled struct{ pool *sync.Pool }

func (x theirsPooled) pieces(w io.Writer, list []order) {
	b := x.pool.Get().(*bytes.Buffer)
	defer x.pool.Put(b)
	b.Reset()
	encodeTheirs(b, list)
	b.WriteTo(w)
}

func (x theirsPooled) json(w io.Writer, list []order) {
	b := x.pool.Get().(*bytes.Buffer)
	defer x.pool.Put(b)
	b.Reset()
	json.NewEncoder(b).Encode(list)
	b.WriteTo(w)
}

// BenchmarkBufferBody builds bodies and writes them out: 1.2 KB, 8 KB, 200 KB, and
// mixed, which is 1.2 KB but for every 25th of 64 KB. The bytes.Buffers of a
// sync.Pool neither grow nor are cleared, and stay as large as their largest body
// until a collection drops them; dewpond grows for each body and clears its blocks.
// dewpond-Grow is told the size of the body first.
func BenchmarkBufferBody(b *testing.B) {
	contenders := []struct {
		name string
		builder
	}{
		{"dewpond", oursPooled{pool: newPool(b, dewpond.BytePoolOptions{})}},
		{"dewpond-Grow", oursPooled{pool: newPool(b, dewpond.BytePoolOptions{}), grow: true}},
		{"dewpond-ZeroNever", oursPooled{pool: newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})}},
		{"bytes.Buffer", theirsFresh{}},
		{"sync.Pool", theirsPooled{&sync.Pool{New: func() any { return new(bytes.Buffer) }}}},
	}
	for _, encoder := range []string{"pieces", "json"} {
		for _, size := range []int{1200, 8 << 10, 200 << 10, 0} {
			name, list, large := fmt.Sprintf("%s/size=%d", encoder, size), orders(size), orders(size)
			if size == 0 {
				name, list, large = encoder+"/mixed", orders(1200), orders(64<<10)
			}
			for _, c := range contenders {
				build := c.pieces
				if encoder == "json" {
					build = c.json
				}
				b.Run(name+"/"+c.name, func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if i%25 == 24 {
							build(io.Discard, large)
						} else {
							build(io.Discard, list)
						}
					}
				})
			}
		}
	}
}

// BenchmarkBufferWrites is a hundred short writes to a buffer that has room.
func BenchmarkBufferWrites(b *testing.B) {
	const text = "some text, 20 bytes."
	part := []byte(text)
	ours, theirs := newPool(b, dewpond.BytePoolOptions{}).Buffer(), new(bytes.Buffer)
	defer ours.Release()
	ours.Grow(4096)
	theirs.Grow(4096)
	b.Run("WriteByte/dewpond", func(b *testing.B) {
		for b.Loop() {
			ours.Reset()
			for range 100 {
				ours.WriteByte('a')
			}
		}
	})
	b.Run("WriteByte/bytes.Buffer", func(b *testing.B) {
		for b.Loop() {
			theirs.Reset()
			for range 100 {
				theirs.WriteByte('a')
			}
		}
	})
	b.Run("WriteString/dewpond", func(b *testing.B) {
		for b.Loop() {
			ours.Reset()
			for range 100 {
				ours.WriteString(text)
			}
		}
	})
	b.Run("WriteString/bytes.Buffer", func(b *testing.B) {
		for b.Loop() {
			theirs.Reset()
			for range 100 {
				theirs.WriteString(text)
			}
		}
	})
	b.Run("Write/dewpond", func(b *testing.B) {
		for b.Loop() {
			ours.Reset()
			for range 100 {
				ours.Write(part)
			}
		}
	})
	b.Run("Write/bytes.Buffer", func(b *testing.B) {
		for b.Loop() {
			theirs.Reset()
			for range 100 {
				theirs.Write(part)
			}
		}
	})
}
