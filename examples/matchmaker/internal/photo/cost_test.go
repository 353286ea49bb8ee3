package photo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"runtime"
	"testing"
)

// scanned is a progressive JPEG of so many components and scans of nothing, each of which passes
// over all blocks of one component and has some 35 bytes.
func scanned(width, height uint16, components, scans int) []byte {
	segment := func(marker byte, b ...byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(b)+2)), b...)
	}
	out := []byte{0xff, 0xd8}
	out = append(out, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	frame := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, height), width)
	frame = append(frame, byte(components))
	for i := range components {
		frame = append(frame, byte(i+1), 0x11, 0)
	}
	out = append(out, segment(startProgressive, frame...)...)
	out = append(out, segment(0xc4, append(append([]byte{0x10, 1, 1}, make([]byte, 14)...), 0, 0xe0)...)...) // the end of a block, and of many
	out = append(out, segment(0xc4, append(append([]byte{0, 1}, make([]byte, 15)...), 0)...)...)
	blocks := (int(width) + 7) / 8 * ((int(height) + 7) / 8)
	for i := range components {
		out = append(out, segment(startOfScan, 1, byte(i+1), 0, 0, 0, 0)...)
		out = append(out, make([]byte, (blocks+7)/8)...)
	}
	var bits []byte // of one scan
	for left := blocks; left > 0; {
		if left < 1<<14 {
			bits = append(bits, make([]byte, left)...)
			break
		}
		run := min(left, 1<<15-1)
		bits = append(bits, 1, 0)
		for i := 13; i >= 0; i-- {
			bits = append(bits, byte((run-1<<14)>>i&1))
		}
		left -= run
	}
	scan := segment(startOfScan, 1, 1, 0, 1, 63, 0)
	for i := 0; i < len(bits); i += 8 {
		var b byte
		for j := range 8 {
			bit := byte(1)
			if i+j < len(bits) {
				bit = bits[i+j]
			}
			b = b<<1 | bit
		}
		if scan = append(scan, b); b == 0xff {
			scan = append(scan, 0)
		}
	}
	return append(append(out, bytes.Repeat(scan, scans)...), 0xff, endOfImage)
}

// A small file that would take minutes to decode is refused before it is, and one that says it takes
// little is decoded.
func TestScansAreBounded(t *testing.T) {
	costly := new(CostError)
	if _, err := Check(scanned(4096, 4095, 1, 500)); !errors.As(err, &costly) {
		t.Errorf("500 scans of 16 million pixels: %v", err)
	}
	few := scanned(64, 64, 3, 20)
	cost, err := Check(few)
	if want := int64(64 * (20 + 3 + 3)); err != nil || cost.Blocks != want {
		t.Errorf("20 scans of 4096 pixels cost %+v, %v, want %d blocks", cost, err, want)
	}
	if m, err := jpeg.Decode(bytes.NewReader(few)); err != nil || m.Bounds().Dx() != 64 {
		t.Errorf("that is no JPEG, by the way: %v", err)
	}
}

// What is said of the memory is what the decoder takes of large images.
func TestMemoryIsKnownBefore(t *testing.T) {
	rgba := image.NewRGBA(image.Rect(0, 0, 1200, 900))
	var of420 bytes.Buffer
	if err := jpeg.Encode(&of420, rgba, nil); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"4:2:0": of420.Bytes(), "progressive, 4:4:4": scanned(1200, 900, 3, 1), "progressive, gray": scanned(1200, 900, 1, 1)} {
		cost, err := Check(b)
		if err != nil {
			t.Fatal(err)
		}
		scratch := thumbnailOf(1200, 900)
		said := float64(cost.Memory - 4*int64(scratch.X*scratch.Y))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := jpeg.Decode(bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := float64(after.TotalAlloc - before.TotalAlloc); math.Abs(took/said-1) > 0.05 {
			t.Errorf("%s takes %.0f bytes to decode, and is said to take %.0f", name, took, said)
		}
	}
}

// An image that takes more memory than there is for all is refused, and one waits for another.
func TestImagesWaitForMemory(t *testing.T) {
	p := NewThumbnailers(2, 32<<20)
	defer p.Close()
	costly := new(CostError)
	if err := p.Make(t.Context(), io.Discard, scanned(2048, 2048, 3, 1), 0); !errors.As(err, &costly) {
		t.Errorf("60 MiB of 32: %v", err)
	}
	half := scanned(1024, 1280, 3, 1) // 20 MiB
	paid, err := p.memory.pay(t.Context(), 20<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Make(t.Context(), io.Discard, half, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second image of 20 MiB of 32: %v", err)
	}
	paid()
	if err := p.Make(t.Context(), io.Discard, half, 0); err != nil {
		t.Errorf("and when the first is done: %v", err)
	}
	paid, err = p.work.pay(t.Context(), p.work.most)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Make(t.Context(), io.Discard, half, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("where others have all the time: %v", err)
	}
	paid()
	if n := p.memory.pool.Stats().InUseBytes + p.work.pool.Stats().InUseBytes; n != 0 || p.Available() != 2 {
		t.Errorf("%d bytes are charged in the end, and %d thumbnailers available", n, p.Available())
	}
}

// A leaving context ends after so many looks.
type leaving struct {
	context.Context
	looks, left int
}

func (c *leaving) Err() error {
	c.looks++
	if c.looks > c.left {
		return context.Canceled
	}
	return nil
}

// Whenever the client hangs up, the work ends at the next look, and there are many of them.
func TestHangUpEndsTheWork(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 480, 300))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i >> 3)
	}
	m.SetRGBA(0, 0, color.RGBA{1, 2, 3, 255})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	most := b.Len()/looks + 300 + 8
	for left := 0; left < most; left += 5 {
		c := &leaving{Context: t.Context(), left: left}
		err := new(Thumbnailer).Make(c, io.Discard, b.Bytes())
		if err == nil || !errors.Is(err, context.Canceled) || c.looks > left+3 {
			t.Fatalf("after %d looks of %d or more: %v, and %d looks in all", left, most, err, c.looks)
		}
	}
}
