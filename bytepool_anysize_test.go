package dewpond_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
)

// Classes of no size of Go's: those of EDNS, QUIC and a UDP packet, and one that shards do not hold.
var anySizes = []int{65, 1232, 1452, 65535, 200_001}

// A Get has exactly the cap of its class, whatever that is, and what is put back is found again.
func TestClassesOfAnySize(t *testing.T) {
	onlyOnHeap(t, "off the heap a class is a multiple of 16")
	notWatched(t, "it counts misses, and has a row that is watched")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, o := range map[string]dewpond.BytePoolOptions{
		"plain":  {Classes: anySizes},
		"Budget": {Classes: anySizes, Budget: dewpond.MustBudget("", 1<<20)},
		"Check":  {Classes: anySizes, Check: dewpond.CheckAll},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, o)
			class, step := 0, 16
			if testing.Short() {
				step = 160
			}
			for n := 1; n <= 200_001; n++ {
				for anySizes[class] < n {
					class++
				}
				if n > 70 && n%step > 2 && n < anySizes[class]-20 {
					continue
				}
				b := p.Get(n)
				if len(b) != n || cap(b) != anySizes[class] || bytes.Count(b[:cap(b)], []byte{0}) != cap(b) {
					t.Fatalf("Get(%d) has %d bytes of %d, want all of %d zero", n, len(b), cap(b), anySizes[class])
				}
				b[:cap(b)][cap(b)-1] = 1
				p.Put(b)
				l := p.Lease(n)
				if b := l.Bytes(); len(b) != n || cap(b) != anySizes[class] {
					t.Fatalf("Lease(%d) has %d bytes of %d, want %d", n, len(b), cap(b), anySizes[class])
				}
				l.Release()
			}
			s := p.Stats()
			if most := 3 * uint64(len(anySizes)); s.Misses > most && name != "Check" || s.InUseBytes != 0 || s.DroppedForeign != 0 {
				t.Errorf("%d misses, want %d at most; %d bytes in use, %d foreign", s.Misses, most, s.InUseBytes, s.DroppedForeign)
			}
			if name == "Check" {
				return
			}
			p.Put(make([]byte, 1456)) // in a step with 1452
			if s := p.Stats(); s.DroppedForeign != 1 {
				t.Errorf("%d slices of another cap are refused, want 1", s.DroppedForeign)
			}
		})
	}
}

// Bounds count what Go allocates: 1536 bytes for 1452.
func TestClassesOfAnySizeAreBounded(t *testing.T) {
	onlyOnHeap(t, "off the heap a class is a multiple of 16")
	notWatched(t, "blocks in quarantine count by their cap")
	b := dewpond.MustBudget("", 4*1536)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1452}, Budget: b})
	var out [][]byte
	for len(out) < 10 {
		block, err := p.TryGet(1452)
		if err != nil {
			break
		}
		out = append(out, block)
	}
	if len(out) != 4 || b.Used() != 4*1536 {
		t.Errorf("a Budget of 4 has %d blocks, %d bytes", len(out), b.Used())
	}
	for _, block := range out {
		p.Put(block)
	}
	small := newPool(t, dewpond.BytePoolOptions{Classes: []int{1452}, Budget: dewpond.MustBudget("", 1500)})
	if _, err := small.GetContext(t.Context(), 1452); !errors.Is(err, dewpond.ErrExhausted) { // else it waits for ever
		t.Errorf("GetContext beyond the whole Budget: %v", err)
	}
	if err := small.GetBatch(t.Context(), make([][]byte, 1), 1452); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("GetBatch beyond the whole Budget: %v", err)
	}

	bounded := newPool(t, dewpond.BytePoolOptions{Classes: []int{1452}, MaxIdleBytes: 100 * 1536})
	out = out[:0]
	for range 200 {
		out = append(out, bounded.Get(1452))
	}
	for _, block := range out {
		bounded.Put(block)
	}
	if s := bounded.Stats(); s.Classes[0].Idle > 100 || s.Classes[0].Idle < 50 {
		t.Errorf("%d blocks are idle, want 50 to 100", s.Classes[0].Idle)
	}
}
