package dewsync_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
)

// Stats say why a slice of bytes is not guarded.
func TestStatsSayWhyNotGuarded(t *testing.T) {
	p := dewsync.Pool{New: func() any { return make([]byte, 100) }}
	p.Put(p.Get())
	if got, want := stats(t, &p).Guard.Setting, "off (its memory is the program's own, which is not exchanged)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// However many Gets of the process are sampled, a Get returns the memory that was put: at its address,
// with its alignment, its cap and all bytes up to that, also where the cap reaches into a neighbour.
func TestMemoryIsNotExchanged(t *testing.T) {
	if err := dewpond.SetGuard("touch=1000000"); err != nil {
		t.Fatal(err)
	}
	oneProcessor(t)
	for name, form := range map[string]struct {
		of func(b []byte) any
		in func(x any) []byte
	}{
		"slice":      {func(b []byte) any { return b }, func(x any) []byte { return x.([]byte) }},
		"pointer":    {func(b []byte) any { return &b }, func(x any) []byte { return *x.(*[]byte) }},
		"named type": {func(b []byte) any { return named(b) }, func(x any) []byte { return x.(named) }},
	} {
		t.Run(name, func(t *testing.T) {
			guards := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
			defer guards.Close()
			var p dewsync.Pool
			slab := bytes.Repeat([]byte("slab"), 4096)
			for i := range slab[:16] {
				p.Put(form.of(slab[i*512 : i*512+100]))
			}
			for guards.Stats().Guard.Samples < 50 {
				if s := guards.Stats(); strings.HasPrefix(s.Guard.Setting, "off (") {
					t.Skip(s.Guard.Setting)
				}
				guards.Put(guards.Get(1000))
				runtime.Gosched() // a timer says when the next is sampled
				x := p.Get()
				b := form.in(x)
				at := reflect.ValueOf(b).Pointer() - reflect.ValueOf(slab).Pointer()
				if at%512 != 0 || at >= 16*512 || len(b) != 100 || cap(b) != len(slab)-int(at) {
					t.Fatalf("at %#x of the slab, len %d, cap %d", at, len(b), cap(b))
				}
				mark := fmt.Sprint(at, guards.Stats().Gets)
				copy(b, mark)
				p.Put(form.of(b))
				if !bytes.HasPrefix(slab[at:], []byte(mark)) {
					t.Fatalf("%q is not in the slab at %#x", mark, at)
				}
			}
		})
	}
}

type named []byte
