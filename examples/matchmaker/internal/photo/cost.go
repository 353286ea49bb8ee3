package photo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/jpeg"
)

// mostPixels bounds what is decoded, and mostBlocks how often: a scan is a pass over the blocks of
// 8 x 8 pixels of some components. A camera's progressive JPEG has 10 scans, not all of them over
// all; this is 24 over all of the most pixels. A scan of nothing has 35 bytes, and the file may have
// as many as it has room for.
const (
	mostPixels = 16 << 20
	mostBlocks = 24 * mostPixels / 64
)

// A Cost is what it takes to decode an image.
type Cost struct {
	Memory int64 // bytes, the thumbnail's among them
	Blocks int64 // of 8 x 8 pixels, once for each time that they are passed over
}

// A TooManyError says that an image has more pixels than are decoded.
type TooManyError struct{ Width, Height int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("the image has %d x %d pixels: send one of at most %d million in all", e.Width, e.Height, mostPixels>>20)
}

// A CostError says that an image takes too much to decode.
type CostError struct{ Text string }

func (e *CostError) Error() string { return e.Text }

// A FormatError says that something is no JPEG.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "this is no JPEG: " + e.Err.Error() }

// Unwrap returns what the decoder says.
func (e *FormatError) Unwrap() error { return e.Err }

// Check reads as much of a JPEG as it takes to know that it will be decoded, and what that costs.
func Check(b []byte) (Cost, error) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(b))
	switch {
	case err != nil:
		return Cost{}, &FormatError{err}
	case c.Width*c.Height > mostPixels:
		return Cost{}, &TooManyError{c.Width, c.Height}
	}
	w := walk{width: c.Width, height: c.Height}
	w.segments(b[2:])
	cost := w.cost()
	if cost.Blocks > mostBlocks {
		return cost, &CostError{fmt.Sprintf("the image has %d scans of %d x %d pixels: send one with fewer, or not progressive", w.scans, c.Width, c.Height)}
	}
	return cost, nil
}

// Markers of a JPEG's segments.
const (
	startOfFrame     = 0xc0 // and the next two
	startProgressive = 0xc2
	endOfImage       = 0xd9
	startOfScan      = 0xda
	adobe            = 0xee
	restart          = 0xd0 // and the next seven
)

// A walk goes over a JPEG's segments as image/jpeg does: what is no marker is not looked at.
type walk struct {
	width, height int

	components  []component
	progressive bool
	converted   bool // from RGB or CMYK, into an image of 4 bytes for each pixel
	scans       int
	passed      int64 // blocks
}

type component struct {
	id     byte
	blocks int64
}

func (w *walk) segments(b []byte) {
	for len(b) >= 2 {
		marker := b[1]
		switch {
		case b[0] != 0xff, marker == 0xff:
			b = b[1:]
			continue
		case marker == 0, marker >= restart && marker < restart+8:
			b = b[2:]
			continue
		case marker == endOfImage || len(b) < 4:
			return
		}
		n := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if n < 4 || n > len(b) {
			return // the decoder does not go on either
		}
		w.segment(marker, b[4:n])
		b = b[n:]
	}
}

func (w *walk) segment(marker byte, b []byte) {
	switch {
	case marker >= startOfFrame && marker <= startProgressive && len(b) >= 6 && w.components == nil:
		w.progressive = marker == startProgressive
		w.frame(b[6:])
	case marker == startOfScan && len(b) > 0:
		w.scans++
		for i := 1; i+1 < len(b) && i <= 2*int(b[0]); i += 2 {
			for _, c := range w.components {
				if c.id == b[i] {
					w.passed += c.blocks
				}
			}
		}
	case marker == adobe && len(b) >= 12 && string(b[:5]) == "Adobe" && b[11] == 0:
		w.converted = true
	}
}

// frame has what a frame says of its components: for each a name, how finely it is sampled, and a table.
func (w *walk) frame(b []byte) {
	h0, v0 := 1, 1
	if len(b) > 3 {
		h0, v0 = max(1, int(b[1]>>4)), max(1, int(b[1]&15))
	}
	units := int64((w.width+8*h0-1)/(8*h0)) * int64((w.height+8*v0-1)/(8*v0))
	names := ""
	for alone := len(b) <= 3; len(b) >= 3; b = b[3:] {
		blocks := units
		if !alone {
			blocks *= int64(b[1]>>4) * int64(b[1]&15)
		}
		w.components = append(w.components, component{b[0], blocks})
		names += string(rune(b[0]))
	}
	if len(w.components) == 4 || names == "RGB" {
		w.converted = true
	}
}

func (w *walk) cost() Cost {
	c := Cost{Blocks: w.passed}
	for i, part := range w.components {
		c.Blocks += part.blocks // made pixels
		c.Memory += 64 * part.blocks
		if w.progressive {
			c.Memory += 64 * 4 * part.blocks // coefficients, until the last scan
		}
		if w.converted && i == 0 {
			c.Memory += 64 * 4 * part.blocks
		}
	}
	size := thumbnailOf(w.width, w.height)
	c.Memory += 4 * int64(size.X) * int64(size.Y)
	return c
}
