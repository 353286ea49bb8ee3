package dewpond_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dewpond/dewpond"
)

// A plainReader hides every method of a reader but Read.
type plainReader struct{ io.Reader }

// A sizedReader says how much it has, which need not be true.
type sizedReader struct {
	io.Reader
	n int
}

func (r sizedReader) Len() int { return r.n }

// ReadAll returns what io.ReadAll does, from readers of all kinds, and the blocks on the
// way are back.
func TestReadAll(t *testing.T) {
	failed := errors.New("the line is cut")
	for _, n := range []int{0, 1, 63, 64, 511, 512, 513, 1024, 5000, 65536, 65537, 300_000} {
		text := strings.Repeat("abcdefg", n/7+1)[:n]
		for name, reader := range map[string]func() io.Reader{
			"in memory":     func() io.Reader { return strings.NewReader(text) },
			"of no length":  func() io.Reader { return plainReader{strings.NewReader(text)} },
			"halves":        func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) },
			"data with EOF": func() io.Reader { return iotest.DataErrReader(strings.NewReader(text)) },
			"fails":         func() io.Reader { return io.MultiReader(strings.NewReader(text), iotest.ErrReader(failed)) },
			"says less":     func() io.Reader { return sizedReader{strings.NewReader(text), n / 2} },
			"says more":     func() io.Reader { return sizedReader{strings.NewReader(text), 3 * n} },
			"says nonsense": func() io.Reader { return sizedReader{strings.NewReader(text), -7} },
			"says too much": func() io.Reader { return sizedReader{strings.NewReader(text), math.MaxInt} },
		} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 512, 1024, 64 << 10}})
			want, wantErr := io.ReadAll(reader())
			got, err := p.ReadAll(reader())
			if !bytes.Equal(got, want) || err != wantErr || got == nil {
				t.Errorf("%d bytes, %s: %d bytes, %v", n, name, len(got), err)
			}
			if s := p.Stats(); s.Gets != s.Puts+1 || s.DroppedForeign != 0 {
				t.Errorf("%d bytes, %s: %+v", n, name, s)
			}
			p.Put(got)
			if s := p.Stats(); s.Gets != s.Puts || s.InUseBytes != 0 || s.DroppedForeign != 0 {
				t.Errorf("%d bytes, %s, put back: %+v", n, name, s)
			}
			_ = p.Close() // 108 pools off the heap want more address space than 32 bits have
		}
	}
}

// One block serves a reader that knows how much it has, and no other.
func TestReadAllTakesOneBlock(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	text := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct {
		r    io.Reader
		gets uint64
	}{
		"strings.Reader": {strings.NewReader(text), 1},
		"bytes.Reader":   {bytes.NewReader([]byte(text)), 1},
		"bytes.Buffer":   {bytes.NewBufferString(text), 1},
		"unknown":        {plainReader{strings.NewReader(text)}, 9}, // 512 B doubled until it holds 100,000
		"LimitedReader":  {io.LimitReader(strings.NewReader("short"), 1<<40), 1},
	} {
		before := p.Stats().Gets
		b := must(p.ReadAll(tt.r))
		if gets := p.Stats().Gets - before; gets != tt.gets {
			t.Errorf("%s: %d blocks, want %d", name, gets, tt.gets)
		}
		if name == "LimitedReader" && cap(b) != 512 {
			t.Errorf("%s: a block of %d bytes", name, cap(b))
		}
		p.Put(b)
	}
}

// What fills the largest class is a block, whether the reader knows that or not. One byte more is
// not pooled.
func TestReadAllOfLargestClass(t *testing.T) {
	const largest = 64 << 10
	text := strings.Repeat("abcdefg", largest/7+1)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"in memory":     func(r io.Reader) io.Reader { return r },
		"of no length":  func(r io.Reader) io.Reader { return plainReader{r} },
		"data with EOF": iotest.DataErrReader,
	} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, largest}})
		for more := range 2 {
			want := text[:largest+more]
			b := must(p.ReadAll(wrap(strings.NewReader(want))))
			if string(b) != want {
				t.Errorf("%s, %d bytes: %d bytes", name, len(want), len(b))
			}
			p.Put(b)
			if s := p.Stats(); s.DroppedOversize != uint64(more) || s.InUseBytes != 0 {
				t.Errorf("%s, %d bytes: %d are too large, %d bytes in use", name, len(want), s.DroppedOversize, s.InUseBytes)
			}
		}
	}
}

// The block goes back if the reader panics, or breaks the rules of a Reader.
func TestReadAllPanics(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	for name, r := range map[string]io.Reader{
		"Read returned -1 for": readerFunc(func([]byte) (int, error) { return -1, nil }),
		"Read returned 513":    readerFunc(func(b []byte) (int, error) { return len(b) + 1, nil }),
		"by itself":            readerFunc(func([]byte) (int, error) { panic("by itself") }),
	} {
		if text := panics(func() { p.ReadAll(r) }); !strings.Contains(text, name) {
			t.Errorf("%s: panics with %q", name, text)
		}
		if s := p.Stats(); s.InUseBytes != 0 {
			t.Errorf("%s: %d bytes are in use", name, s.InUseBytes)
		}
	}
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A Buffer takes one block for a reader that knows how much it has, whatever the Buffer
// holds, and whether io.Copy asks the reader or the Buffer.
func TestBufferTakesOneBlockToReadFrom(t *testing.T) {
	text := strings.Repeat("dew ", 20_000)
	for name, r := range map[string]func() io.Reader{
		"WriterTo":     func() io.Reader { return strings.NewReader(text) },
		"bytes.Buffer": func() io.Reader { return bytes.NewBufferString(text) },
		"Len alone":    func() io.Reader { return sizedReader{plainReader{strings.NewReader(text)}, len(text)} },
	} {
		for _, before := range []string{"", "before"} {
			p := newPool(t, dewpond.BytePoolOptions{})
			b := p.Buffer()
			b.WriteString(before)
			gets := p.Stats().Gets
			if n, err := io.Copy(b, r()); n != int64(len(text)) || err != nil || b.String() != before+text {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
			if gets := p.Stats().Gets - gets; gets != 1 {
				t.Errorf("%s, %d bytes before: %d blocks", name, len(before), gets)
			}
			b.Reset()
			if n, err := b.ReadFrom(r()); n != int64(len(text)) || err != nil || b.String() != text {
				t.Errorf("%s: ReadFrom: %d bytes, %v", name, n, err)
			}
			b.Release()
		}
	}

	// What somebody else says is not trusted.
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Buffer()
	defer b.Release()
	if n, err := io.Copy(b, io.LimitReader(strings.NewReader("short"), 1<<40)); n != 5 || err != nil || b.Cap() > 1024 {
		t.Errorf("%d bytes, %v, in a block of %d", n, err, b.Cap())
	}
}

// If the Put of the block that the text has outgrown panics, the block is put back once.
func TestReadAllPutsOnce(t *testing.T) {
	source := &panicsInFree{fakeSource: newFakeSource()}
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, 1024}, Memory: source, MaxIdleBytes: dewpond.NoIdle})
	source.on = true
	if text := panics(func() { p.ReadAll(plainReader{strings.NewReader(strings.Repeat("x", 700))}) }); text == "" {
		t.Fatal("Free does not panic")
	}
	source.on = false
	if s := p.Stats(); s.DroppedForeign+s.DroppedDouble != 0 {
		t.Errorf("%+v", s)
	}
}
