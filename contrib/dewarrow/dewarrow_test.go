package dewarrow_test

import (
	"bytes"
	"io"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewarrow"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/misuse"
)

// newAllocator returns an allocator whose pool is watched: misuse and leaks fail the test.
func newAllocator(t *testing.T) *dewarrow.Allocator {
	a, err := dewarrow.New(dewpond.BytePoolOptions{Name: t.Name(), Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { t.Error(v) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dewtest.ReportLeaks(a.Pool())
		a.Pool().Close()
	})
	return a
}

// Every class is aligned, with checks and without, the first time and when it is reused.
func TestAlignment(t *testing.T) {
	plain, err := dewarrow.New(dewpond.BytePoolOptions{Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*dewarrow.Allocator{plain, newAllocator(t)} {
		for _, c := range a.Pool().Stats().Classes {
			for range 2 {
				var all [][]byte
				for _, size := range []int{c.Size - 1, c.Size, c.Size + 1, c.Size, c.Size} {
					b := a.Allocate(size)
					if at := reflect.ValueOf(b).Pointer(); at%64 != 0 || len(b) != size {
						t.Errorf("%d bytes: %d at %#x, which is not a multiple of 64", size, len(b), at)
					}
					all = append(all, b)
				}
				for _, b := range all {
					a.Free(b)
				}
			}
		}
	}
	if _, err := dewarrow.New(dewpond.BytePoolOptions{Classes: []int{64, 80}}); err == nil {
		t.Error("classes that are not aligned are accepted")
	}
}

// Memory is aligned also where it is guarded: the block that is, and not another in its place.
func TestGuardedIsAligned(t *testing.T) {
	if err := dewpond.SetGuard("touch=1000000"); err != nil {
		t.Fatal(err)
	}
	a, err := dewarrow.New(dewpond.BytePoolOptions{Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Pool().Close()
	for samples := uint64(0); samples < 20; runtime.Gosched() {
		b := a.Allocate(1000)
		at := reflect.ValueOf(b).Pointer()
		s := a.Pool().Stats()
		switch guarded := s.Guard.Samples > samples; {
		case strings.HasPrefix(s.Guard.Setting, "off ("):
			t.Skip(s.Guard.Setting)
		case at%64 != 0:
			t.Fatalf("memory at %#x, which is not a multiple of 64", at)
		case guarded != (at%128 == 64): // where no block of the pool begins that is not guarded
			t.Fatalf("a Get was sampled: %t, and memory at %#x is returned", guarded, at)
		}
		samples = s.Guard.Samples
		a.Free(b)
	}
}

// What Reallocate gives back after it has taken it away is zero, as the rest, unless memory
// never is.
func TestReallocateZeroes(t *testing.T) {
	for _, never := range []bool{false, true} {
		o := dewpond.BytePoolOptions{Name: t.Name()}
		if never {
			o.Zero = dewpond.ZeroNever
		}
		a, err := dewarrow.New(o)
		if err != nil {
			t.Fatal(err)
		}
		b := a.Allocate(1000)
		copy(b, bytes.Repeat([]byte("x"), len(b)))
		b = a.Reallocate(1010, a.Reallocate(10, b))
		if old := bytes.Count(b[10:], []byte("x")); string(b[:10]) != "xxxxxxxxxx" || (old > 0) != never {
			t.Errorf("ZeroNever %t: %d old bytes come back; it begins with %q", never, old, b[:10])
		}
		a.Free(b)
		a.Pool().Close()
	}
}

// Arrow's own check of allocators: what is allocated is freed, with its size.
func TestCheckedAllocator(t *testing.T) {
	checked := memory.NewCheckedAllocator(newAllocator(t))
	defer checked.AssertSize(t, 0)
	var all []*memory.Buffer
	for _, size := range []int{0, 1, 63, 64, 65, 1000, 100_000, 2 << 20} {
		b := memory.NewResizableBuffer(checked)
		b.Resize(size)
		for i := range b.Bytes() {
			if b.Bytes()[i] != 0 {
				t.Fatalf("byte %d of %d is not zero", i, size)
			}
			b.Bytes()[i] = byte(i)
		}
		b.Resize(3*size + 1)
		b.Reserve(4 * size)
		b.Resize(size)
		b.Retain()
		b.Release()
		for i, c := range b.Bytes() {
			if c != byte(i) {
				t.Fatalf("byte %d of %d has not been kept", i, size)
			}
		}
		b.ResizeNoShrink(size / 2)
		all = append(all, b)
	}
	for _, b := range all {
		b.Release()
	}
}

// Streams that end midway leave nothing behind.
func TestClientsHangUp(t *testing.T) {
	checked := memory.NewCheckedAllocator(newAllocator(t))
	defer checked.AssertSize(t, 0)
	content := bytes.Repeat([]byte("dew"), 50_000)
	var wg sync.WaitGroup
	for i := range 16 {
		reader, writer := net.Pipe()
		wg.Go(func() {
			writer.Write(content[:len(content)*i/16])
			writer.Close()
		})
		wg.Go(func() {
			b := memory.NewResizableBuffer(checked)
			defer b.Release()
			for { // as a reader of Arrow's format does, in growing steps
				at := b.Len()
				b.Resize(at + 10_000)
				n, err := io.ReadFull(reader, b.Bytes()[at:])
				b.Resize(at + n)
				if err != nil {
					break
				}
			}
			if !bytes.Equal(b.Bytes(), content[:len(content)*i/16]) {
				t.Errorf("%d bytes of %d", b.Len(), len(content)*i/16)
			}
		})
	}
	wg.Wait()
}

// shifted is an Allocator whose blocks begin at no multiple of 64, as they may.
type shifted struct{}

func (shifted) Alloc(size int) ([]byte, error) {
	b := make([]byte, size+128)
	at := 16 + (64-int(reflect.ValueOf(b).Pointer()%64))%64
	return b[at : at+size : at+size], nil
}
func (shifted) Free([]byte)      {}
func (shifted) Owns([]byte) bool { return true }

// An Allocator with such blocks serves all the same.
func TestSourceOfShiftedBlocks(t *testing.T) {
	a, err := dewarrow.New(dewpond.BytePoolOptions{Name: t.Name(), Memory: shifted{}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Pool().Close()
	b := a.Allocate(100)
	if len(b) != 100 || reflect.ValueOf(b).Pointer()%64 == 0 {
		t.Errorf("%d bytes at %p: want 100, at no multiple of 64", len(b), b)
	}
	a.Free(b)
}
