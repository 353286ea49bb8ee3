package dewpond_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

func TestSourceGetsEveryBlockBack(t *testing.T) {
	leavesOut(t, "a block that comes back after Close")
	source := newFakeSource()
	p := newPool(t, dewpond.BytePoolOptions{
		Classes: []int{64, 7168, 1 << 17}, // not Go's sizes: only the Allocator's rules hold
		Memory:  source, MaxIdlePerClass: 3,
	})
	var held [][]byte
	for range 10 {
		for _, size := range []int{10, 7000, 100000} {
			held = append(held, p.Get(size))
		}
	}
	if out, _ := source.report(); out != 30 {
		t.Fatalf("%d blocks are out, want 30", out)
	}
	for _, b := range held {
		p.Put(b)
	}
	if out, _ := source.report(); out != 9 {
		t.Errorf("%d blocks are out with 3 idle in each class, want 9: dropped blocks go back", out)
	}
	if err := p.Prewarm(10, 1); err == nil || !strings.Contains(err.Error(), "room for 0 blocks of 64") {
		t.Errorf("Prewarm of a full class: %v", err)
	}
	p.Trim()
	if out, twice := source.report(); out != 0 || twice != 0 {
		t.Errorf("%d blocks are out and %d freed twice after Trim", out, twice)
	}
	late := p.Get(10)
	p.Close()
	p.Put(late)
	if out, twice := source.report(); out != 0 || twice != 0 {
		t.Errorf("%d blocks are out and %d freed twice after Close", out, twice)
	}
}

func TestSourceRefusesForeign(t *testing.T) {
	notWatched(t, misuses)
	source := newFakeSource()
	p := newPool(t, dewpond.BytePoolOptions{Memory: source})
	p.Put(make([]byte, 128)) // the right cap, the wrong memory
	b := p.Get(128)
	p.Put(b[64:]) // interior
	p.Put(b)
	s := p.Stats()
	if s.Dropped.Foreign != 2 || s.IdleBytes != 128 || s.InUseBytes != 0 {
		t.Errorf("Dropped.Foreign %d, IdleBytes %d, InUseBytes %d; want 2, 128, 0", s.Dropped.Foreign, s.IdleBytes, s.InUseBytes)
	}
}

func TestSourceFails(t *testing.T) {
	source := newFakeSource()
	source.fail = errors.New("no more address space")
	p := newPool(t, dewpond.BytePoolOptions{Memory: source})
	if _, err := p.TryGet(100); !errors.Is(err, source.fail) {
		t.Errorf("TryGet: %v", err)
	}
	if _, err := p.GetContext(t.Context(), 100); !errors.Is(err, source.fail) {
		t.Errorf("GetContext: %v", err)
	}
	if err := p.Prewarm(100, 1); !errors.Is(err, source.fail) {
		t.Errorf("Prewarm: %v", err)
	}
	b := p.Get(100) // always memory
	if len(b) != 100 {
		t.Errorf("Get: len %d", len(b))
	}
	p.Put(b)
	if s := p.Stats(); s.InUseBytes != 0 || s.IdleBytes != 0 || s.Misses != 1 || s.OffHeap.Fallback != 1 || s.Dropped.Fallback != 1 || s.Dropped.Foreign != 0 {
		t.Errorf("InUseBytes %d, IdleBytes %d, Misses %d, OffHeap.Fallback %d, Dropped.Fallback %d, Dropped.Foreign %d; want 0, 0, 1, 1, 1, 0",
			s.InUseBytes, s.IdleBytes, s.Misses, s.OffHeap.Fallback, s.Dropped.Fallback, s.Dropped.Foreign)
	}
}

// A slice that cannot be a block is no block: the caller hears of it, and nothing stays
// charged for it.
func TestSourceReturnsWhatIsNoBlock(t *testing.T) {
	for name, wrong := range map[string][]byte{
		"short":          make([]byte, 127, 128),
		"too much cap":   make([]byte, 128, 256),
		"nil":            nil,
		"at an odd byte": make([]byte, 129)[1:],
	} {
		budget := dewpond.MustBudget("", 1<<20)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{128}, Memory: fixedSource(wrong), Budget: budget})
		for method, get := range map[string]func(){
			"Get":     func() { p.Get(100) },
			"TryGet":  func() { p.TryGet(100) },
			"Prewarm": func() { p.Prewarm(100, 1) },
		} {
			if text := panics(get); !strings.Contains(text, "the Allocator of pool") || !strings.Contains(text, "a block of 128 bytes") {
				t.Errorf("%s: %s panics with %q", name, method, text)
			}
		}
		if s := p.Stats(); budget.Used() != 0 || s.Gets != 0 || s.IdleBytes != 0 || s.InUseBytes != 0 {
			t.Errorf("%s: %d bytes are charged, %+v", name, budget.Used(), s)
		}
	}
}

// The Allocators of these tests keep the promises of an Allocator.
func TestSourcesOfTheTests(t *testing.T) {
	dewtest.TestAllocator(t, newFakeSource(), 64, 7168, 1<<17)
	dewtest.TestAllocator(t, new(ledger), 64, 7168, 1<<17)
}
