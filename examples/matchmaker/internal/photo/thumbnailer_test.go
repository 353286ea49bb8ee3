package photo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// picture is a JPEG whose left half is dark and whose right half is light.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			v := uint8(20)
			if x >= width/2 {
				v = 220
			}
			m.SetRGBA(x, y, color.RGBA{v, v, v, 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The scratch memory of a larger picture does not show in a smaller one.
func TestThumbnail(t *testing.T) {
	th := new(Thumbnailer)
	for _, tt := range []struct{ width, height, wantWidth, wantHeight int }{
		{1000, 1500, 480, 720}, {480, 320, 480, 320}, {100, 40, 100, 40}, {2000, 3, 480, 1},
	} {
		var b bytes.Buffer
		if err := th.Make(t.Context(), &b, picture(t, tt.width, tt.height)); err != nil {
			t.Fatal(err)
		}
		m, err := jpeg.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if size := m.Bounds().Size(); size.X != tt.wantWidth || size.Y != tt.wantHeight {
			t.Errorf("%d x %d becomes %v, want %d x %d", tt.width, tt.height, size, tt.wantWidth, tt.wantHeight)
		}
		dark, _, _, _ := m.At(tt.wantWidth/4, tt.wantHeight/2).RGBA()
		light, _, _, _ := m.At(tt.wantWidth*3/4, tt.wantHeight/2).RGBA()
		if dark>>8 > 60 || light>>8 < 180 {
			t.Errorf("%d x %d: left is %d, right %d", tt.width, tt.height, dark>>8, light>>8)
		}
	}
}

// resized changes the size in a JPEG's header, and nothing else.
func resized(b []byte, width, height uint16) []byte {
	b = bytes.Clone(b)
	for i := 2; i+9 < len(b); {
		if b[i+1] == 0xc0 { // start of frame
			binary.BigEndian.PutUint16(b[i+5:], height)
			binary.BigEndian.PutUint16(b[i+7:], width)
			break
		}
		i += 2 + int(binary.BigEndian.Uint16(b[i+2:]))
	}
	return b
}

func TestCheck(t *testing.T) {
	good := picture(t, 40, 40)
	large := new(TooManyError)
	if _, err := Check(resized(good, 30_000, 30_000)); !errors.As(err, &large) || large.Width != 30_000 {
		t.Errorf("%v", err)
	}
	if _, err := Check([]byte("GIF89a")); !errors.As(err, new(*FormatError)) {
		t.Errorf("%v", err)
	}
	if _, err := Check(good); err != nil {
		t.Error(err)
	}
}

// There are as many thumbnailers as are asked for; who comes late waits, and gives up with ctx.
func TestThumbnailersAreBounded(t *testing.T) {
	p := NewThumbnailers(2, DefaultMemory)
	defer p.Close()
	a, _ := p.Get(t.Context())
	b, _ := p.Get(t.Context())
	if a == nil || b == nil || p.Size() != 2 || p.Available() != 0 {
		t.Fatalf("%v %v; %d of %d are available", a, b, p.Available(), p.Size())
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Get(over); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	got := make(chan *Thumbnailer)
	go func() {
		c, err := p.Get(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- c
	}()
	p.Put(a)
	p.Put(<-got)
	p.Put(b)
	if p.Available() != 2 {
		t.Errorf("%d are available in the end", p.Available())
	}
}
