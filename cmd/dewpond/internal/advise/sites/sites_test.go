package sites

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/made"
)

var program = Program{Modules: []string{"example.com/shop"}}

// stack is a call of the user's own in the middle of others.
func stack(own string, line int) []made.Call {
	return []made.Call{
		{Function: "bytes.growSlice", File: "/usr/local/go/src/bytes/buffer.go", Line: 10},
		{Function: own, File: "/src/shop/order.go", Line: line},
		{Function: "example.com/shop/api.(*Server).serve", File: "/src/shop/api/server.go", Line: 7},
		{Function: "runtime.main", File: "/usr/local/go/src/runtime/proc.go", Line: 1},
	}
}

func reading(t testing.TB, h made.Heap) *Reading {
	t.Helper()
	r := new(Reading)
	if err := r.Add(h.Profile(), program); err != nil {
		t.Fatal(err)
	}
	return r
}

var begin = time.Unix(1000, 0)

func TestFrame(t *testing.T) {
	for function, want := range map[string][2]string{
		"main.siteA":                                  {"main", "siteA"},
		"main.(*service).answer":                      {"main", "(*service).answer"},
		"net/http.(*conn).serve":                      {"net/http", "(*conn).serve"},
		"example.com/a.b/c.F[example.com/d/e.T[...]]": {"example.com/a.b/c", "F[example.com/d/e.T[...]]"},
		"unknown": {"unknown", ""},
	} {
		f := Frame{Function: function}
		if got := [2]string{f.Package(), f.Name()}; got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
	for _, of := range []struct {
		f        Frame
		own, any bool // with the modules, and without any
	}{
		{Frame{Function: "main.f", File: "/x/main.go"}, true, true},
		{Frame{Function: "example.com/shop.f", File: "/src/shop/a.go"}, true, true},
		{Frame{Function: "example.com/shop/api.f", File: "/src/shop/a.go"}, true, true},
		{Frame{Function: "example.com/shopping.f", File: "/src/shop/a.go"}, false, true},
		{Frame{Function: "example.com/shop.f", File: "/go/pkg/mod/example.com/shop@v1.2.0/a.go"}, false, false},
		{Frame{Function: "example.com/dep.f", File: "/src/vendor/example.com/dep/a.go"}, false, false},
		{Frame{Function: "net/http.f", File: "/usr/local/go/src/net/http/a.go"}, false, false},
	} {
		if own, any := program.Owns(of.f), (Program{}).Owns(of.f); own != of.own || any != of.any {
			t.Errorf("%v: own %v and %v, want %v and %v", of.f, own, any, of.own, of.any)
		}
	}
}

// What is allocated between two profiles is that of the user's own innermost line, with its sizes, rate and
// mean life.
func TestBetween(t *testing.T) {
	sample := func(line int, size, objects, live int64) made.Sample {
		return made.Sample{Stack: stack("example.com/shop.order", line), Size: size, Objects: objects, Live: live}
	}
	other := made.Sample{Stack: []made.Call{{Function: "net/http.read", File: "/go/src/net/http/x.go", Line: 3}}, Size: 4096, Objects: 500, Live: 1}
	first := reading(t, made.Heap{At: begin, Samples: []made.Sample{sample(55, 16384, 1000, 640), sample(90, 1<<20, 10, 0)}})
	last := reading(t, made.Heap{At: begin.Add(10 * time.Second), Samples: []made.Sample{
		sample(55, 16384, 65000, 640), sample(55, 8192, 100, 0), sample(90, 1<<20, 1010, 0), other,
	}})
	w, err := Between([]*Reading{first, last}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if w.Duration != 10*time.Second || w.Rate != made.Rate || len(w.Sites) != 3 {
		t.Fatalf("the window is %+v", w)
	}
	a := w.Sites[0]
	if w.Sites[1].Line != 90 || a.Line != 55 || !a.Own || a.Function != "example.com/shop.order" || w.Sites[2].Own {
		t.Fatalf("the sites are %v, %v and %v", a.Key, w.Sites[1].Key, w.Sites[2].Key)
	}
	want := (64000*16384 + 100*8192) / 10.0
	if math.Abs(a.Bytes.Mid-want) > 1 || math.Abs(a.Objects.Mid-6410) > 1e-6 || len(a.Sizes) != 2 || math.Abs(a.Sizes[16384].Mid-6400) > 1e-6 {
		t.Errorf("%v bytes/s of %v objects/s, sizes %v", a.Bytes, a.Objects, a.Sizes)
	}
	if p := 1 - math.Exp(-16384.0/made.Rate); math.Abs(float64(a.Samples)-64000*p-100*8192/float64(made.Rate)) > 2 {
		t.Errorf("%d samples", a.Samples)
	}
	if half := (a.Bytes.High - a.Bytes.Low) / 2 / a.Bytes.Mid; math.Abs(half-1.96/math.Sqrt(float64(a.Samples))) > 0.002 {
		t.Errorf("%d samples have an error of %.3f", a.Samples, half)
	}
	if life := 640 * 16384 / want; math.Abs(a.Life.Mid-life) > life/100 || a.Life.Low >= a.Life.Mid || a.Life.High <= a.Life.Mid || a.Below != 0 {
		t.Errorf("mean life %v and below %v, want %v", a.Life, a.Below, life)
	}
	b := w.Sites[1] // never seen alive: three samples' worth of bytes by the rate
	if want := 3 * made.Rate / (1000 * float64(1<<20) / 10); b.Below != want || b.Life.High != want || b.Life.Low != 0 {
		t.Errorf("what was never seen alive lives below %v, %v, want %v", b.Below, b.Life, want)
	}
	if len(a.Stacks) != 1 || len(a.Stacks[0].Callees) != 1 || len(a.Stacks[0].Callers) != 2 || a.Stacks[0].Callers[0].Function != "example.com/shop/api.(*Server).serve" {
		t.Errorf("the stacks are %+v", a.Stacks[0])
	}
	if share := a.Share.Mid + b.Share.Mid + w.Sites[2].Share.Mid; math.Abs(share-1) > 1e-9 {
		t.Errorf("the shares are %v together", share)
	}

	// What the runtime has counted is shared out as the sample is.
	doubled, err := Between([]*Reading{first, last}, 2*w.Allocated)
	if err != nil || math.Abs(doubled.Sites[0].Bytes.Mid-2*a.Bytes.Mid) > 1e-3 || doubled.Sites[0].Share != a.Share {
		t.Errorf("of twice as many bytes %v, %v", doubled.Sites[0].Bytes, err)
	}
}

// A large block is seen each time, so that its error is small.
func TestLargeBlocks(t *testing.T) {
	sample := made.Sample{Stack: stack("example.com/shop.order", 5), Size: 8 << 20, Objects: 20}
	w, err := Between([]*Reading{reading(t, made.Heap{Duration: time.Second, At: begin, Samples: []made.Sample{sample}})}, 0)
	if err != nil || w.Sites[0].Bytes.High-w.Sites[0].Bytes.Low > w.Sites[0].Bytes.Mid/1000 {
		t.Errorf("%v, %v", w.Sites[0].Bytes, err)
	}
	if w.Sites[0].Live.Known() || w.Sites[0].Life.Known() || w.Live.Known() {
		t.Error("a profile of a window alone says what lives")
	}
}

func TestBetweenRefuses(t *testing.T) {
	heap := func(change func(*made.Heap)) *Reading {
		h := made.Heap{At: begin, Binary: "/srv/shop", BuildID: "a", Samples: []made.Sample{{Stack: stack("main.f", 1), Size: 64, Objects: 100000}}}
		change(&h)
		return reading(t, h)
	}
	same := heap(func(*made.Heap) {})
	later := func(h *made.Heap) { h.At = h.At.Add(time.Second) }
	for name, of := range map[string]struct {
		all  []*Reading
		want error
	}{
		"one since the start": {[]*Reading{same}, ErrSinceStart},
		"older second":        {[]*Reading{heap(later), same}, ErrOrder},
		"the same twice":      {[]*Reading{same, same}, ErrOrder},
		"fewer second":        {[]*Reading{same, heap(func(h *made.Heap) { later(h); h.Samples[0].Objects = 5 })}, ErrOrder},
		"another binary":      {[]*Reading{same, heap(func(h *made.Heap) { later(h); h.Binary = "/srv/other" })}, ErrPrograms},
		"another build":       {[]*Reading{same, heap(func(h *made.Heap) { later(h); h.BuildID = "b" })}, ErrPrograms},
		"another rate":        {[]*Reading{same, heap(func(h *made.Heap) { later(h); h.Rate = 4096 })}, ErrRates},
		"nothing":             {[]*Reading{same, heap(later)}, ErrEmpty},
	} {
		if _, err := Between(of.all, 0); !errors.Is(err, of.want) {
			t.Errorf("%s: %v, want %v", name, err, of.want)
		}
	}
	window := func(h *made.Heap) { later(h); h.Duration = time.Second }
	if _, err := Between([]*Reading{same, heap(window)}, 0); err == nil || !strings.Contains(err.Error(), "give it alone") {
		t.Errorf("a window beside another: %v", err)
	}
	for name, p := range map[string]func() error{
		"CPU":     func() error { return new(Reading).Add(made.CPU{}.Profile(), program) },
		"no rate": func() error { p := made.Heap{}.Profile(); p.Period = 0; return new(Reading).Add(p, program) },
	} {
		if err := p(); !errors.Is(err, ErrNoSamples) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The interval of a site's bytes has the truth in 19 of 20 cases, where a sample is taken as the
// runtime takes it.
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const runs = 1000
	for _, size := range []int64{128, 4096, 300 << 10} {
		const bytes = 60 * made.Rate // some 60 samples
		objects := bytes / size
		held := 0
		for range runs {
			p := 1 - math.Exp(-float64(size)/made.Rate)
			seen := 0
			for next := random.ExpFloat64() * made.Rate; next < bytes; { // the distance to the next sample is of the exponential law
				seen++
				block := math.Floor(next / float64(size))
				next = (block+1)*float64(size) + random.ExpFloat64()*made.Rate
			}
			reckoned := int64(float64(seen) / p)
			w, err := Between([]*Reading{reading(t, made.Heap{Duration: time.Second, At: begin, Samples: []made.Sample{
				{Stack: stack("main.f", 1), Size: size, Objects: reckoned},
			}})}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if b := w.Sites[0].Bytes; b.Low <= float64(objects*size) && float64(objects*size) <= b.High {
				held++
			}
		}
		if held < runs*94/100 {
			t.Errorf("of %d B: the interval has the truth in %d of %d runs, want 95 %%", size, held, runs)
		}
	}
}

func TestQuiet(t *testing.T) {
	for _, of := range []struct {
		allocated []uint64
		want      bool
	}{
		{[]uint64{0, 100, 200, 300, 400, 500}, false},
		{[]uint64{0, 250, 251, 252, 253, 500}, true},
		{[]uint64{0, 500}, false},
	} {
		if got := Quiet(of.allocated); got != of.want {
			t.Errorf("%v: %v", of.allocated, got)
		}
	}
}

func FuzzAdd(f *testing.F) {
	f.Add(int64(512<<10), int64(1024), int64(10), int64(1), "main.f")
	f.Add(int64(1), int64(0), int64(-5), int64(7), "a/b.(*T[c/d.E]).m.func1")
	f.Fuzz(func(t *testing.T, rate, size, objects, live int64, function string) {
		p := made.Heap{Rate: rate, At: begin, Duration: time.Second, Samples: []made.Sample{{Stack: stack(function, 1), Size: size, Objects: objects, Live: live}}}.Profile()
		r := new(Reading)
		if err := r.Add(p, program); err != nil {
			return
		}
		w, err := Between([]*Reading{r}, 0)
		if err != nil {
			return
		}
		for _, s := range w.Sites {
			if !(s.Bytes.Low <= s.Bytes.Mid && s.Bytes.Mid <= s.Bytes.High) || s.Samples < 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
