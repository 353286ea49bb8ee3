package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// One test for each row of docs/ownership.md, named by the row's first words. The
// unseen rows are tested too: that a misuse cannot be seen is a fact, not a hope.
var ownership = map[string]func(t *testing.T, p *dewpond.BytePool){
	"Put(nil)": func(t *testing.T, p *dewpond.BytePool) {
		p.Put(nil)
		p.Put(p.Get(0))
		p.Put(make([]byte, 100)[100:])
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
	"Return twice of one variable": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		p.Return(&b)
		p.Return(&b)
		if text := panics(func() { b[0] = 1 }); !strings.Contains(text, "index out of range") {
			t.Errorf("a use of the variable panics with %q", text)
		}
		expect(t, p, dewpond.Stats{IdleBytes: 128})
	},
	"Return of another variable": func(t *testing.T, p *dewpond.BytePool) {
		b := p.Get(100)
		other := b
		p.Return(&b)
		p.Return(&other)
		if offHeap {
			expect(t, p, dewpond.Stats{DroppedDouble: 1, IdleBytes: 128})
			return
		}
		if one, two := p.Get(100), p.Get(100); &one[0] != &two[0] {
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
	"GetBatch into elements that still hold": func(t *testing.T, p *dewpond.BytePool) {
		blocks := [][]byte{p.Get(100), nil}
		if err := p.GetBatch(t.Context(), blocks, 1000); err != nil {
			t.Error(err)
		}
		for _, b := range blocks {
			p.Put(b)
		}
		expect(t, p, dewpond.Stats{InUseBytes: 128, IdleBytes: 2 * 1024})
	},
	"GetBatch or GetContext by a caller that holds": func(t *testing.T, _ *dewpond.BytePool) {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", 4096)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			held := make([][]byte, 4)
			for i := range held {
				held[i] = p.Get(1024)
			}
			var wg go125.WaitGroup
			for range 2 { // callers that hold two of these each
				wg.Go(func() {
					if err := p.GetBatch(ctx, make([][]byte, 2), 1024); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the row is out of date: %v", err)
					}
				})
			}
			wg.Wait()
			putAll(p, held)
			if s := p.Stats(); s.Waits != 2 || s.WaitDuration != 2*time.Hour || s.InUseBytes != 0 {
				t.Errorf("%d slept for %v", s.Waits, s.WaitDuration)
			}
		})
	},
	"a Source that returns what cannot be": func(t *testing.T, _ *dewpond.BytePool) {
		p := newPool(t, dewpond.BytePoolOptions{Memory: fixedSource(make([]byte, 60))})
		if text := panics(func() { p.Get(64) }); !strings.Contains(text, "the Source of pool") {
			t.Errorf("panicked with %q", text)
		}
	},
	"a Source that returns a block that is not": func(t *testing.T, _ *dewpond.BytePool) {
		p := newPool(t, dewpond.BytePoolOptions{Memory: fixedSource(bytes.Repeat([]byte{7}, 64))})
		if one, two := p.Get(64), p.Get(64); one[0] != 7 || &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"Adopt of what cannot": func(t *testing.T, p *dewpond.BytePool) {
		p.Adopt(make([]byte, 4097))
		p.Adopt(make([]byte, 60))
		p.Adopt(make([]byte, 300)) // between 128 and 1024
		p.Adopt(make([]byte, 136)[8:])
		expect(t, p, dewpond.Stats{DroppedOversize: 1, DroppedForeign: 3})
	},
	"Adopt of a part of": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		b := make([]byte, 4096)
		p.Adopt(b[1024:2048:2048])
		if got := p.Get(1024); &got[0] != &b[1024] {
			t.Error("the row is out of date: the pool saw it")
		}
	}),
	"Adopt twice": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		b := make([]byte, 1024)
		p.Adopt(b)
		p.Adopt(b)
		if one, two := p.Get(1024), p.Get(1024); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	}),
	"Adopt of a block that Get returned": func(t *testing.T, p *dewpond.BytePool) {
		p.Adopt(p.Get(1024))
		want := dewpond.Stats{IdleBytes: 1024, InUseBytes: 1024}
		if offHeap { // where it is Put
			want.InUseBytes = 0
		}
		expect(t, p, want)
	},
	"BodyPool: Put of a body cut": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		h := p.Bodies()
		size := dewpond.BodySize(h)
		for range 100 {
			h.Put(append(h.Get(), make([]byte, 1500)...)[:0])
		}
		if expect(t, p, dewpond.Stats{IdleBytes: p.Stats().IdleBytes}); dewpond.BodySize(h) != size {
			t.Errorf("a BodyPool of %d bytes has %d now", size, dewpond.BodySize(h))
		}
	}),
	"BodyPool: no Put": onHeap(func(t *testing.T, p *dewpond.BytePool) {
		h := p.Bodies()
		h.Get()
		expect(t, p, dewpond.Stats{InUseBytes: int64(dewpond.BodySize(h))})
	}),
	"ReadAll: no Put of what": func(t *testing.T, p *dewpond.BytePool) {
		if b, err := p.ReadAll(iotest.ErrReader(io.ErrUnexpectedEOF)); b == nil || err != io.ErrUnexpectedEOF {
			t.Errorf("%v, %v", b, err)
		}
		expect(t, p, dewpond.Stats{InUseBytes: 1024})
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

// onHeap is a row's test of what is not so off the heap: ownership.md says what is.
func onHeap(test func(t *testing.T, p *dewpond.BytePool)) func(*testing.T, *dewpond.BytePool) {
	return func(t *testing.T, p *dewpond.BytePool) {
		if !offHeap {
			test(t, p)
			return
		}
		p.Adopt(make([]byte, 1024))
		if expect(t, p, dewpond.Stats{DroppedForeign: 1}); panics(func() { p.Bodies() }) == "" {
			t.Error("the document is out of date: there is a BodyPool off the heap")
		}
	}
}

func TestOwnershipTable(t *testing.T) {
	notWatched(t, misuses)
	// On one P the next Get returns the last Put, which shows whose block it is.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	doc, err := os.ReadFile("docs/ownership.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := maps.Clone(ownership)
	maps.Copy(tests, sliceOwnership)
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
