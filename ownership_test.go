package dewpond_test

import (
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// One test for each row of docs/ownership.md, named by the row's first words. The
// unseen rows are shown too: what nobody can see is a fact, not a hope.
var ownership = map[string]func(t *testing.T, p *dewpond.BytePool){
	"Put(nil)": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(nil)
		expect(t, p, dewpond.Stats{})
	},
	"Put of a slice whose cap is no class": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(make([]byte, 100))
		p.Put(make([]byte, 128)[:10:100])
		expect(t, p, dewpond.Stats{DroppedForeign: 2})
	},
	"Put of a sub-slice that does not start": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(p.Get(128)[1:])
		expect(t, p, dewpond.Stats{DroppedForeign: 1, InUseBytes: 128})
	},
	"Put of a sub-slice whose cap happens": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(128)
		p.Put(b[64:])
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedForeign: 1, InUseBytes: 128})
			return
		}
		if got := p.Get(64); &got[0] != &b[64] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Put of a slice larger than the largest": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(make([]byte, 8192))
		expect(t, p, dewpond.Stats{DroppedOversize: 1})
	},
	"Put of a slice whose cap is a class": func(t *testing.T, p *dewpond.BytePool) {
		frame := make([]byte, 128)
		p.Put(frame[1:65:65])
		p.Put(frame[8:72:72])
		expect(t, p, dewpond.Stats{DroppedForeign: 2})
	},
	"Put of a slice made elsewhere": func(t *testing.T, p *dewpond.BytePool) {
		p.Get(128)
		p.Put(make([]byte, 128))
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedForeign: 1, InUseBytes: 128})
			return
		}
		expect(t, p, dewpond.Stats{IdleBytes: 128})
	},
	"Put of a shorter or longer": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(p.Get(100)[:0])
		b := p.Get(100)
		p.Put(b[:128])
		expect(t, p, dewpond.Stats{IdleBytes: 128})
	},
	"Put after Close": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		if err := p.Close(); (err != nil) != offHeap {
			t.Errorf("Close with a block out: %v", err)
		}
		p.Put(b)
		expect(t, p, dewpond.Stats{DroppedClosed: 1})
	},
	"Put twice": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		p.Put(b)
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedDouble: 1, IdleBytes: 128})
			return
		}
		if one, two := p.Get(100), p.Get(100); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Put while the block is out again": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		other := p.Get(100)
		p.Put(b)
		if third := p.Get(100); &third[0] != &other[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"read after Put": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		p.Get(100)[0] = 7
		if b[0] != 7 {
			t.Error("the row is out of date")
		}
	},
	"write after Put": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Put(b)
		b[0] = 7
		if p.Get(100)[0] != 7 {
			t.Error("the row is out of date")
		}
		q := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroOnGet})
		b = q.Get(100)
		q.Put(b)
		b[0] = 7
		if q.Get(100)[0] != 0 {
			t.Error("ZeroOnGet let a write after Put through")
		}
	},
	"no Put": func(t *testing.T, p *dewpond.BytePool) {
		p.Get(100)
		expect(t, p, dewpond.Stats{InUseBytes: 128})
		if err := p.Close(); (err != nil) != offHeap {
			t.Errorf("Close: %v", err)
		}
	},
	"append past cap": func(t *testing.T, p *dewpond.BytePool) {
		b := append(p.Get(128), make([]byte, 1300)...)
		p.Put(b)
		expect(t, p, dewpond.Stats{DroppedForeign: 1, InUseBytes: 128})
		p.Put(p.Append(p.Get(128), make([]byte, 1300)...))
		expect(t, p, dewpond.Stats{DroppedForeign: 1, InUseBytes: 128, IdleBytes: 128 + 2048})
	},
	"Get of a negative size": func(t *testing.T, p *dewpond.BytePool) {
		defer func() {
			if r, _ := recover().(string); !strings.Contains(r, "Get(-1)") {
				t.Errorf("panicked with %q", r)
			}
		}()
		p.Get(-1)
	},
}

func TestOwnershipTable(t *testing.T) {
	notWatched(t, misuses)
	// On one P the next Get returns the last Put, which shows whose block it is.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// Nor does a collection move the stack, by which the engine with locks finds a shard.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	doc, err := os.ReadFile("docs/ownership.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := maps.Clone(ownership)
	maps.Copy(tests, toolOwnership)
	rows := 0
	for line := range strings.Lines(string(doc)) {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok || strings.HasPrefix(row, "misuse") || strings.HasPrefix(row, "---") {
			continue
		}
		rows++
		found := false
		for name, f := range tests {
			if strings.HasPrefix(row, name) {
				found = true
				t.Run(name, func(t *testing.T) {
					f(t, newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 128, 1024, 2048, 4096}}))
				})
			}
		}
		if !found {
			t.Errorf("no test for the row: %s", row)
		}
	}
	if rows != len(tests) {
		t.Errorf("%d rows and %d tests", rows, len(tests))
	}
}
