package photo

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"runtime"

	"github.com/dewpond/dewpond"
)

// Width is a thumbnail's, in pixels; its height follows. mostPixels bounds what is decoded.
const (
	Width      = 480
	mostPixels = 16 << 20
)

// A TooManyError says that an image has more pixels than are decoded.
type TooManyError struct{ Width, Height int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("the image has %d x %d pixels: send one of at most %d million in all", e.Width, e.Height, mostPixels>>20)
}

// A FormatError says that something is no JPEG.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "this is no JPEG: " + e.Err.Error() }

// Unwrap returns what the decoder says.
func (e *FormatError) Unwrap() error { return e.Err }

// A Thumbnailer makes thumbnails, one at a time, in scratch memory that it keeps.
type Thumbnailer struct{ scratch image.RGBA }

// Reset is for a pool: what is in the scratch memory is overwritten before it is read.
func (t *Thumbnailer) Reset() {}

// Check reads as much of a JPEG as it takes to know that it will be decoded.
func Check(b []byte) error {
	c, err := jpeg.DecodeConfig(bytes.NewReader(b))
	switch {
	case err != nil:
		return &FormatError{err}
	case c.Width*c.Height > mostPixels:
		return &TooManyError{c.Width, c.Height}
	}
	return nil
}

// Make writes a JPEG of at most [Width] to w. The caller has checked b.
func (t *Thumbnailer) Make(w io.Writer, b []byte) error {
	from, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		return &FormatError{err}
	}
	size := from.Bounds().Size()
	width := min(Width, size.X)
	t.size(width, max(1, size.Y*width/size.X))
	pixels, ok := from.(image.RGBA64Image) // as all images of the standard library are
	if !ok {
		return &FormatError{fmt.Errorf("an image of type %T", from)}
	}
	scale(&t.scratch, pixels)
	return jpeg.Encode(w, &t.scratch, &jpeg.Options{Quality: 85})
}

func (t *Thumbnailer) size(width, height int) {
	if n := 4 * width * height; n > cap(t.scratch.Pix) {
		t.scratch.Pix = make([]byte, n)
	} else {
		t.scratch.Pix = t.scratch.Pix[:n]
	}
	t.scratch.Stride, t.scratch.Rect = 4*width, image.Rect(0, 0, width, height)
}

// scale makes each pixel the mean of those that it stands for.
func scale(to *image.RGBA, from image.RGBA64Image) {
	box, size := from.Bounds(), to.Rect.Size()
	for y := range size.Y {
		top, bottom := y*box.Dy()/size.Y, max(y*box.Dy()/size.Y+1, (y+1)*box.Dy()/size.Y)
		for x := range size.X {
			left, right := x*box.Dx()/size.X, max(x*box.Dx()/size.X+1, (x+1)*box.Dx()/size.X)
			var r, g, b, n uint32
			for v := top; v < bottom; v++ {
				for u := left; u < right; u++ {
					c := from.RGBA64At(box.Min.X+u, box.Min.Y+v)
					r, g, b, n = r+uint32(c.R>>8), g+uint32(c.G>>8), b+uint32(c.B>>8), n+1
				}
			}
			i := to.PixOffset(x, y)
			to.Pix[i], to.Pix[i+1], to.Pix[i+2], to.Pix[i+3] = byte(r/n), byte(g/n), byte(b/n), 255
		}
	}
}

// Thumbnailers are as many as there are processors: a bounded resource, so that who comes late
// waits.
type Thumbnailers struct {
	pool *dewpond.Pool[Thumbnailer]
	size int
}

// NewThumbnailers makes the pool of them; 0 is as many as processors.
func NewThumbnailers(size int) *Thumbnailers {
	if size == 0 {
		size = runtime.GOMAXPROCS(0)
	}
	return &Thumbnailers{size: size, pool: dewpond.MustPool(dewpond.PoolOptions[Thumbnailer]{
		Name: "photo.Thumbnailer", Limit: size, MaxIdle: size,
		Keep: func(t *Thumbnailer) bool { return cap(t.scratch.Pix) <= 4*Width*4*Width },
	})}
}

// Get waits for a thumbnailer, or for the end of ctx.
func (p *Thumbnailers) Get(ctx context.Context) (*Thumbnailer, error) { return p.pool.GetContext(ctx) }

// Put gives a thumbnailer back.
func (p *Thumbnailers) Put(t *Thumbnailer) { p.pool.Put(t) }

// Size is how many there are at most.
func (p *Thumbnailers) Size() int { return p.size }

// Available is how many are not out.
func (p *Thumbnailers) Available() int {
	s := p.pool.Stats()
	return p.size - int(s.Gets-s.Puts)
}

// Close lets go of those that are idle.
func (p *Thumbnailers) Close() error { return p.pool.Close() }
