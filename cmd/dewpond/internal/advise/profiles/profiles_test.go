package profiles

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/made"
)

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// plain returns a profile that is not packed.
func plain(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// many returns a profile of many samples, each with a stack of its own order.
func many(samples int) *profile.Profile {
	h := made.Heap{At: time.Unix(100, 0)}
	for i := range samples {
		var stack []made.Call
		for depth := range 24 {
			line := 1 + (i>>depth)%7
			stack = append(stack, made.Call{Function: fmt.Sprintf("example.com/program.f%d", depth), File: "/srv/program.go", Line: line})
		}
		h.Samples = append(h.Samples, made.Sample{Stack: stack, Size: 1024, Objects: int64(i + 1), Live: 1})
	}
	return h.Profile()
}

// The pieces together have what the profile has.
func TestEach(t *testing.T) {
	pieceBytes = 64 << 10
	defer func() { pieceBytes = 4 << 20 }()
	whole := many(6000)
	for name, data := range map[string][]byte{"plain": plain(t, whole), "packed": made.Packed(whole)} {
		pieces, samples, objects := 0, 0, int64(0)
		err := Each(opener(data), func(p *profile.Profile) error {
			pieces++
			samples += len(p.Sample)
			for _, s := range p.Sample {
				objects += s.Value[0]
				if len(s.Location) != 24 || s.Location[0].Line[0].Function.Name != "example.com/program.f0" {
					return fmt.Errorf("a sample has %d calls", len(s.Location))
				}
			}
			if p.Period != made.Rate || p.TimeNanos != whole.TimeNanos || len(p.SampleType) != 4 {
				return fmt.Errorf("a piece is of period %d", p.Period)
			}
			return nil
		})
		if n := int64(6000); err != nil || pieces < 2 || int64(samples) != n || objects != n*(n+1)/2 {
			t.Errorf("%s: %d pieces of %d samples and %d objects: %v", name, pieces, samples, objects, err)
		}
	}
}

// A profile without samples is one piece.
func TestNoSamples(t *testing.T) {
	pieces := 0
	err := Each(opener(made.Packed(made.Heap{At: time.Unix(1, 0)}.Profile())), func(p *profile.Profile) error { pieces++; return nil })
	if pieces != 1 || err != nil {
		t.Errorf("%d pieces, %v", pieces, err)
	}
}

func TestRefuses(t *testing.T) {
	packed, raw := made.Packed(many(1000)), plain(t, many(1000))
	damaged := bytes.Clone(packed)
	damaged[len(damaged)/2] ^= 0xff
	for name, of := range map[string]struct {
		data []byte
		want error
	}{
		"cut packed":         {packed[:len(packed)*2/3], ErrCut},
		"cut in the header":  {packed[:5], ErrCut},
		"cut plain":          {raw[:len(raw)-3], ErrCut},
		"empty":              {nil, ErrCut},
		"damaged":            {damaged, ErrFormat},
		"text":               {[]byte("hello world, this is no profile"), ErrFormat},
		"a length that lies": {[]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f}, ErrFormat},
		"a long number":      {bytes.Repeat([]byte{0xff}, 20), ErrFormat},
		"a wrong string":     {[]byte{0x0a, 2, 8, 99}, ErrFormat},
	} {
		if err := Each(opener(of.data), func(*profile.Profile) error { return nil }); !errors.Is(err, of.want) {
			t.Errorf("%s: %v, want %v", name, err, of.want)
		}
	}
	stop := errors.New("stop")
	if err := Each(opener(packed), func(*profile.Profile) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of each: %v", err)
	}
}

// endless has a profile's tables, and then samples, as many as are asked for, without holding them.
type endless struct {
	tables, sample []byte
	left           int
	now            []byte
}

func (e *endless) Read(b []byte) (int, error) {
	for len(e.now) == 0 {
		switch {
		case e.tables != nil:
			e.now, e.tables = e.tables, nil
		case e.left > 0:
			e.now = e.sample
			e.left -= len(e.sample)
		default:
			return 0, io.EOF
		}
	}
	n := copy(b, e.now)
	e.now = e.now[n:]
	return n, nil
}

func (e *endless) Close() error { return nil }

// How much memory a profile takes does not depend on how many samples it has: what is held is one piece
// and the tables. A collector that is told to keep the heap small shows what is held.
func TestBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 20 MB; the run without -short does")
	}
	one := many(1)
	without := one.Copy()
	without.Sample = nil
	tables := plain(t, without)
	var sample []byte
	for rest := plain(t, one); len(rest) > 0; {
		r := bytes.NewReader(rest)
		number, field, err := next(bufio.NewReader(r), nil)
		if err != nil {
			t.Fatal(err)
		}
		if number == sampleField {
			sample = bytes.Repeat(field, 1000)
		}
		rest = rest[len(field):]
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	const most = 20e6
	var peak uint64
	total := 0
	err := Each(func() (io.ReadCloser, error) { return &endless{tables: tables, sample: sample, left: most}, nil }, func(p *profile.Profile) error {
		total += len(p.Sample)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.Sys-m.HeapReleased)
		return nil
	})
	if err != nil || total < most/len(sample)*1000 || peak > 250e6 {
		t.Errorf("%d samples with a peak of %d bytes: %v", total, peak, err)
	}
	t.Logf("%d samples, peak %d MB", total, peak/1e6)
}

func FuzzEach(f *testing.F) {
	f.Add(made.Packed(many(3)))
	f.Add(plain(f, many(2)))
	f.Add([]byte{0x0a, 2, 8, 99})
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = Each(opener(data), func(p *profile.Profile) error { return p.CheckValid() })
	})
}
