package dewpond_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

func TestSourceGetsEveryBlockBack(t *testing.T) {
	leavesOut(t, "a block that comes back after Close")
	source := newFakeSource()
	p := newPool(t, dewpond.BytePoolOptions{
		Classes: []int{64, 7168, 1 << 17}, // not Go's sizes: only the Source's rules hold
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
	if s.DroppedForeign != 2 || s.IdleBytes != 128 || s.InUseBytes != 0 {
		t.Errorf("DroppedForeign %d, IdleBytes %d, InUseBytes %d; want 2, 128, 0", s.DroppedForeign, s.IdleBytes, s.InUseBytes)
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
	if s := p.Stats(); s.InUseBytes != 0 || s.IdleBytes != 0 || s.Misses != 1 || s.HeapFallback != 1 || s.DroppedFallback != 1 || s.DroppedForeign != 0 {
		t.Errorf("InUseBytes %d, IdleBytes %d, Misses %d, HeapFallback %d, DroppedFallback %d, DroppedForeign %d; want 0, 0, 1, 1, 1, 0",
			s.InUseBytes, s.IdleBytes, s.Misses, s.HeapFallback, s.DroppedFallback, s.DroppedForeign)
	}
}
