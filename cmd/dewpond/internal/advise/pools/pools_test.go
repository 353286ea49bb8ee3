package pools

import (
	"errors"
	"strings"
	"testing"
)

const text = `# TYPE go_gc_gogc_percent gauge
go_gc_gogc_percent 100
go_gc_gomemlimit_bytes 9.223372036854776e+18
process_cpu_seconds_total 7
dewpond_gets_total{class="512",pool="frames",result="hit"} 5000
dewpond_gets_total{class="512",pool="frames",result="miss"} 10
dewpond_puts_dropped_total{pool="frames",reason="full"} 3
dewpond_gets_oversize_total{pool="frames"} 1
dewpond_bytes{pool="frames",state="idle"} 4096
dewpond_bytes{pool="frames",state="used"} 1000
dewpond_pressure_level 0
`

const vars = `{"cmdline": [], "dewpond": {"pools": {"frames": {"gets_total": {"512": {"hit": 5000, "miss": 10}},
"puts_dropped_total": {"full": 3}, "gets_oversize_total": 1, "bytes": {"idle": 4096, "used": 1000}}}}}`

// Both pages say the same of the pools.
func TestRead(t *testing.T) {
	for name, page := range map[string]string{"text": text, "vars": vars} {
		p, err := Read([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		f := p.Pools["frames"]
		if len(p.Pools) != 1 || f.Hits[512] != 5000 || f.Misses[512] != 10 || f.Dropped["full"] != 3 || f.Oversize != 1 || f.Idle != 4096 || f.InUse != 1000 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	p, _ := Read([]byte(text))
	if *p.GOGC != 100 || *p.Limit < 1<<60 {
		t.Errorf("GOGC %v, limit %v", *p.GOGC, *p.Limit)
	}
	for page, want := range map[string]string{"": ErrNone.Error(), "{}": ErrNone.Error(), "hello 1\n": ErrNone.Error(), "{": "unexpected end", "dewpond_gets_total{": "not a line of"} {
		if _, err := Read([]byte(page)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", page, err)
		}
	}
	if _, err := Read(nil); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// Each fault has the option that changes it, and a pool that is as it should be has none.
func TestBetween(t *testing.T) {
	pool := func(change func(*Pool)) *Page {
		p := &Pool{Hits: map[int]float64{512: 9000}, Misses: map[int]float64{512: 100, 1024: 5}, Dropped: map[string]float64{}, Oversize: 7, Refused: 7}
		change(p)
		return &Page{Pools: map[string]*Pool{"frames": p}}
	}
	before := pool(func(*Pool) {})
	for name, of := range map[string]struct {
		change          func(*Pool)
		finding, option string
	}{
		"nothing":   {func(*Pool) {}, "", ""},
		"good":      {func(p *Pool) { p.Hits[512] += 9500; p.Misses[512] += 500 }, "", ""},
		"few":       {func(p *Pool) { p.Misses[512] += 500 }, "", ""},
		"made anew": {func(p *Pool) { p.Hits[512] = 10; p.Misses[512] = 1; p.Oversize, p.Refused = 0, 0 }, "", ""},
		"misses":    {func(p *Pool) { p.Hits[512] += 8000; p.Misses[512] += 2000 }, "80 % of 10.0 k Gets were hits", "IdleTimeout"},
		"pinned":    {func(p *Pool) { p.Misses[512] += 3; p.Dropped["full"] = 4 }, "drops 4 blocks as full, and allocates in class 512 meanwhile", "MaxIdleBytes"},
		"full":      {func(p *Pool) { p.Dropped["full"] = 4 }, "drops 4 blocks as full", "MaxIdleBytes"},
		"foreign":   {func(p *Pool) { p.Dropped["foreign"] = 4 }, "4 Puts of what is no block", "Grow"},
		"oversize":  {func(p *Pool) { p.Oversize = 9 }, "2 Gets above its largest class", "Classes"},
		"refused":   {func(p *Pool) { p.Refused = 9 }, "refused 2 times", "AllocRate"},
	} {
		seen := Between(before, pool(of.change))
		if len(seen) != 1 || seen[0].Name != "frames" {
			t.Fatalf("%s: %v", name, seen)
		}
		found := seen[0].Findings
		switch {
		case of.finding == "":
			if len(found) != 0 {
				t.Errorf("%s: %v", name, found)
			}
		case len(found) != 1 || !strings.Contains(found[0].Finding, of.finding) || !strings.Contains(found[0].Option, of.option):
			t.Errorf("%s: %v, want %q, %q", name, found, of.finding, of.option)
		}
	}
	// A pool that was not there before, whose oversize Gets and refusals are all of the window.
	seen := Between(&Page{}, pool(func(p *Pool) { p.Idle, p.InUse, p.Dropped["closed"] = 5, 6, 7 }))[0]
	if len(seen.Findings) != 2 || seen.Gets != 9105 || seen.Hits != 9000 || seen.Dropped != 7 || seen.Idle != 5 || seen.InUse != 6 {
		t.Errorf("a new pool: %+v", seen)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte(vars))
	f.Fuzz(func(t *testing.T, page []byte) {
		p, err := Read(page)
		if err == nil {
			Between(p, p)
		}
	})
}
