package photo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"runtime"
	"time"

	"github.com/dewpond/dewpond"
)

// Width is a thumbnail's, in pixels; its height follows.
const Width = 480

// A Thumbnailer makes thumbnails, one at a time, in scratch memory that it keeps.
type Thumbnailer struct{ scratch image.RGBA }

// Reset is for a pool: what is in the scratch memory is overwritten before it is read.
func (t *Thumbnailer) Reset() {}

// thumbnailOf is the size of an image's thumbnail.
func thumbnailOf(width, height int) image.Point {
	w := min(Width, width)
	return image.Pt(w, max(1, height*w/width))
}

// Make writes a JPEG of at most [Width] to w. The caller has checked b. It ends with the context's
// error soon after the context does.
func (t *Thumbnailer) Make(ctx context.Context, w io.Writer, b []byte) error {
	from, err := jpeg.Decode(&wanted{ctx: ctx, Reader: bytes.NewReader(b)})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &FormatError{err}
	}
	size := thumbnailOf(from.Bounds().Dx(), from.Bounds().Dy())
	t.size(size.X, size.Y)
	pixels, ok := from.(image.RGBA64Image) // as all images of the standard library are
	if !ok {
		return &FormatError{fmt.Errorf("an image of type %T", from)}
	}
	if err := scale(ctx, &t.scratch, pixels); err != nil {
		return err
	}
	return jpeg.Encode(&wanted{ctx: ctx, Writer: w}, &t.scratch, &jpeg.Options{Quality: 85})
}

// A wanted reads and writes for as long as somebody wants what comes of it.
type wanted struct {
	ctx context.Context
	io.Reader
	io.Writer
}

// looks is after how many bytes it looks: a scan of nothing, which takes the decoder as long as one
// of something, has 35.
const looks = 512

func (w *wanted) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Reader.Read(b[:min(len(b), looks)])
}

func (w *wanted) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
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
func scale(ctx context.Context, to *image.RGBA, from image.RGBA64Image) error {
	box, size := from.Bounds(), to.Rect.Size()
	for y := range size.Y {
		if err := ctx.Err(); err != nil {
			return err
		}
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
	return nil
}

// Thumbnailers are as many as there are processors: a bounded resource, so that who comes late
// waits. What they decode at once has a bound too.
type Thumbnailers struct {
	pool         *dewpond.Pool[Thumbnailer]
	size         int
	memory, work *toll
}

// DefaultMemory is what the images that are decoded at once may take.
const DefaultMemory = 256 << 20

// NewThumbnailers makes the pool of them; 0 is as many as processors. The images that they decode
// at once have so many bytes of memory.
func NewThumbnailers(size int, memory int64) *Thumbnailers {
	if size == 0 {
		size = runtime.GOMAXPROCS(0)
	}
	return &Thumbnailers{
		size: size, memory: newToll("photo.memory", 1<<10, memory), work: newToll("photo.blocks", 64, 2*mostBlocks),
		pool: dewpond.MustPool(dewpond.PoolOptions[Thumbnailer]{
			Name: "photo.Thumbnailer", MaxOut: size, MaxIdle: size,
			Keep: func(t *Thumbnailer) bool { return cap(t.scratch.Pix) <= 4*Width*4*Width },
		}),
	}
}

// Make writes the thumbnail of an image to w. It waits until there is room for what that costs, and
// a thumbnailer, for so long: then the error is [context.DeadlineExceeded].
func (p *Thumbnailers) Make(ctx context.Context, w io.Writer, b []byte, patience time.Duration) error {
	cost, err := Check(b)
	if err != nil {
		return err
	}
	if cost.Memory > p.memory.most {
		return &CostError{fmt.Sprintf("the image takes %d MiB of memory to decode: send a smaller one, of at most %d MiB, or not progressive", cost.Memory>>20, p.memory.most>>20)}
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, t := range []struct {
		*toll
		n int64
	}{{p.memory, cost.Memory}, {p.work, cost.Blocks}} {
		paid, err := t.pay(waiting, t.n)
		if err != nil {
			return err
		}
		defer paid()
	}
	th, err := p.Get(waiting)
	if err != nil {
		return err
	}
	defer p.Put(th)
	return th.Make(ctx, w, b)
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
func (p *Thumbnailers) Close() error {
	return errors.Join(p.pool.Close(), p.memory.pool.Close(), p.work.pool.Close())
}
