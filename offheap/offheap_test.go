package offheap_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/offheap"
)

func TestDefaultClasses(t *testing.T) {
	classes := offheap.DefaultClasses()
	if len(classes) != 65 || classes[0] != 64 || classes[64] != 1<<20 || !slices.IsSorted(classes) {
		t.Fatalf("%d classes: %v", len(classes), classes)
	}
	for i, size := range classes[1:] {
		smaller := classes[i] // a size one byte larger than this wastes most
		if size%16 != 0 || size <= smaller {
			t.Errorf("class %d after %d", size, smaller)
		}
		if waste := float64(size-smaller-1) / float64(size); waste > 0.20 {
			t.Errorf("class %d for %d bytes: %.1f %% waste", size, smaller+1, 100*waste)
		}
	}
	for _, frame := range []int{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536} {
		if !slices.ContainsFunc(classes, func(c int) bool { return c >= frame+16 && c <= frame+frame/8 }) {
			t.Errorf("no class for %d bytes and a header", frame)
		}
	}
	classes[0] = 1
	if offheap.DefaultClasses()[0] != 64 {
		t.Error("callers share the table")
	}
}

func TestOptionsAreNamed(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	for _, tt := range []struct {
		o    dewpond.BytePoolOptions
		m    offheap.Options
		want []string
	}{
		{dewpond.BytePoolOptions{Memory: foreignSource{}}, offheap.Options{}, []string{"Memory"}},
		{dewpond.BytePoolOptions{Name: "x"}, offheap.Options{Reserve: -5}, []string{"x", "Reserve -5"}},
		{dewpond.BytePoolOptions{Classes: []int{100}, AllocRate: -1}, offheap.Options{}, []string{"class 100", "AllocRate -1"}},
	} {
		p, err := tt.m.NewBytePool(tt.o)
		if p != nil || err == nil {
			t.Errorf("%+v, %+v: no error", tt.o, tt.m)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not name %s", err, want)
			}
		}
	}
	if s := p.Stats(); len(s.Classes) != 65 {
		t.Errorf("%d classes", len(s.Classes))
	}
}

type foreignSource struct{}

func (foreignSource) Alloc(int) ([]byte, error) { return nil, nil }
func (foreignSource) Free([]byte)               {}
func (foreignSource) Owns([]byte) bool          { return true }

func TestEveryClass(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // another processor would not find the block
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	classes := append(offheap.DefaultClasses(), 0)
	for i, size := range classes[:65] {
		for _, n := range []int{size, size - 1} {
			b := p.Get(n)
			if len(b) != n || cap(b) != size {
				t.Fatalf("Get(%d): len %d, cap %d, want class %d (%d of 65)", n, len(b), cap(b), size, i)
			}
			for i := range b[:cap(b)] {
				if b[:cap(b)][i] != 0 {
					t.Fatalf("Get(%d): byte %d is not zero", n, i)
				}
				b[:cap(b)][i] = 1
			}
			p.Put(b)
		}
	}
	s := p.Stats()
	if s.Gets != 130 || s.Misses != 65 || s.Puts != 130 || s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
		t.Errorf("%+v", s)
	}
	if released := p.Trim(); released != s.IdleBytes {
		t.Errorf("Trim released %d of %d", released, s.IdleBytes)
	}
	if big := p.Get(2 << 20); len(big) != 2<<20 {
		t.Error("oversize")
	}
}

func TestForeignAndInteriorAreRefused(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	other := newPool(t, dewpond.BytePoolOptions{Name: "other"}, offheap.Options{})
	b, c := p.Get(8192), other.Get(8192)
	refused := [][]byte{
		make([]byte, 8192), // the right cap, on the Go heap
		c,                  // another pool's block
		b[4096:],           // 4096 is a class
		b[8192-64:],        // so is 64
		b[:64:64],          // starts where a block starts
		b[16:],             // no class
	}
	p.Put(b[8192:]) // nothing: ignored
	for _, r := range refused {
		p.Put(r)
	}
	if s := p.Stats(); s.Dropped.Foreign != uint64(len(refused)) || s.IdleBytes != 0 || s.InUseBytes != 8192 {
		t.Errorf("Dropped.Foreign %d, IdleBytes %d, InUseBytes %d", s.Dropped.Foreign, s.IdleBytes, s.InUseBytes)
	}
	p.Put(b[:0])
	other.Put(c)
	if s := p.Stats(); s.IdleBytes != 8192 || s.InUseBytes != 0 {
		t.Errorf("IdleBytes %d, InUseBytes %d", s.IdleBytes, s.InUseBytes)
	}
}

// Buffers, Leases and Scopes work as they do on the heap.
func TestBufferLeaseScope(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	buffer := p.Buffer()
	text := strings.Repeat("pond", 10_000)
	buffer.WriteString(text)
	if buffer.String() != text {
		t.Error("Buffer")
	}
	buffer.Release()
	l := p.Lease(5000)
	kept := l.Retain()
	if l.Release(); len(kept.Bytes()) != 5000 {
		t.Error("Lease")
	}
	kept.Release()
	if kept.Release(); p.Stats().DoubleReleases != 1 {
		t.Error("a second Release is not refused")
	}
	s := p.Scope()
	for i := range 3000 {
		piece := s.Get(i % 999)
		for j := range piece {
			piece[j] = byte(i)
		}
	}
	s.Close()
	if s := p.Stats(); s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
		t.Errorf("%+v", s)
	}
}

// When the range is full, TryGet returns an error, and Get still returns memory.
func TestReserveIsFull(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1 << 20}}, offheap.Options{Reserve: 2 << 20})
	a, b := p.Get(1<<20), p.Get(1<<20)
	if _, err := p.TryGet(1); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("TryGet: %v", err)
	}
	c := p.Get(10)
	c[0] = 1
	p.Put(c)
	p.Put(a)
	p.Put(b)
	if s := p.Stats(); s.IdleBytes != 2<<20 || s.InUseBytes != 0 || s.Refused != 1 {
		t.Errorf("IdleBytes %d, InUseBytes %d, Refused %d", s.IdleBytes, s.InUseBytes, s.Refused)
	}
}

func TestCloseAndTrimLetGo(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1 << 20}}, offheap.Options{Reserve: 2 << 20})
	for range 20 { // ten times as many as there is room for
		a, b := p.Get(1<<20), p.Get(1<<20)
		a[0], b[0] = 1, 1
		p.Put(a)
		p.Put(b)
		if released := p.Trim(); released != 2<<20 {
			t.Fatalf("Trim released %d", released)
		}
	}
	b := p.Get(10)
	p.Close()
	b[0]++ // out: still mapped
	p.Put(b)
	if s := p.Stats(); s.Dropped.Closed != 1 || s.IdleBytes != 0 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// No block has two owners, whatever the schedule. The race detector also finds two
// owners of one block without a Put and a Get between them.
func TestTwoOwners(t *testing.T) {
	for _, classes := range [][]int{{64}, {4608}, {64, 8704, 1 << 17}} {
		t.Run(fmt.Sprint(classes), func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{Classes: classes, MaxIdlePerClass: 40, Zero: dewpond.ZeroNever}, offheap.Options{})
			rounds := 20_000
			if testing.Short() {
				rounds = 2_000
			}
			var wg go125.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(g), 3))
					mark := byte(g + 1)
					var mine [][]byte
					for range rounds {
						switch {
						case rng.IntN(1000) == 0:
							p.Trim()
						case len(mine) < 30 && rng.IntN(2) == 0:
							b := p.Get(classes[rng.IntN(len(classes))])
							b[0], b[len(b)-1] = mark, mark
							mine = append(mine, b)
						case len(mine) > 0:
							i := rng.IntN(len(mine))
							b := mine[i]
							mine[i] = mine[len(mine)-1]
							mine = mine[:len(mine)-1]
							if b[0] != mark || b[len(b)-1] != mark {
								t.Error("two owners")
							}
							p.Put(b)
						}
					}
					for _, b := range mine {
						p.Put(b)
					}
				})
			}
			wg.Wait()
			if s := p.Stats(); s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Every block begins at a multiple of 16, whatever the class, even alone on its pages.
func TestBlocksBeginAtMultiplesOf16(t *testing.T) {
	var narrow []int
	for size := 64; len(narrow) < 128; size += 16 {
		narrow = append(narrow, size)
	}
	for _, classes := range [][]int{nil, narrow} {
		for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
			p := newPool(t, dewpond.BytePoolOptions{Classes: classes, Check: check}, offheap.Options{})
			for _, c := range p.Stats().Classes {
				a, b := p.Get(c.Size), p.Get(c.Size)
				if at, other := reflect.ValueOf(a).Pointer(), reflect.ValueOf(b).Pointer(); at%16 != 0 || other%16 != 0 {
					t.Errorf("blocks of %d bytes begin at %#x and %#x", c.Size, at, other)
				}
				p.Put(a)
				p.Put(b)
			}
			if s := p.Stats(); s.Dropped.Foreign != 0 || s.InUseBytes != 0 {
				t.Errorf("%d blocks were taken for strangers, %d bytes are in use", s.Dropped.Foreign, s.InUseBytes)
			}
		}
	}
}
