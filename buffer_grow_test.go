package dewpond_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
)

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
