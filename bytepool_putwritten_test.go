package dewpond_test

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)

// PutWritten clears what it is given and trusts that the rest is as it was.
func TestPutWritten(t *testing.T) {
	notWatched(t, "with CheckAll nothing is trusted")
	for _, size := range []int{512, 64 << 10, 128 << 10, 1 << 20} {
		p := newPool(t, dewpond.BytePoolOptions{})
		trusts := !offHeap && size <= 128<<10
		b := p.Get(size)
		copy(b, "written")
		p.PutWritten(b[:7])
		again := p.Get(size)
		if !bytes.Equal(again, make([]byte, size)) {
			t.Errorf("%d bytes: what was written is still there: %q", size, again[:7])
		}
		again[100] = 1
		p.PutWritten(again[:7])
		last := p.Get(size)
		if unsafe.SliceData(last) != unsafe.SliceData(again) {
			t.Fatalf("%d bytes: another block", size)
		}
		if (last[100] == 1) != trusts {
			t.Errorf("%d bytes: what was written behind is %d; the pool trusts: %v", size, last[100], trusts)
		}
	}
}

// PutWritten refuses what Put refuses, and ignores what Put ignores.
func TestPutWrittenOfForeignSlices(t *testing.T) {
	notWatched(t, "it puts back what is no block")
	p := newPool(t, dewpond.BytePoolOptions{})
	p.PutWritten(nil)
	p.PutWritten(make([]byte, 0, 100))
	p.PutWritten(p.Get(512)[8:16])
	p.PutWritten(make([]byte, 10, 2<<20))
	if s := p.Stats(); s.DroppedForeign != 2 || s.DroppedOversize != 1 || s.IdleBytes != 0 {
		t.Errorf("%+v", s)
	}
	var zero dewpond.BytePool
	defer zero.Close()
	zero.PutWritten(zero.Get(512)[:3])
	if s := zero.Stats(); s.Puts != 1 || s.IdleBytes != 512 {
		t.Errorf("the zero pool: %+v", s)
	}
}

// With CheckAll a write behind what PutWritten is given is found, and the next owner does not read it.
func TestPutWrittenLooksBehind(t *testing.T) {
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet} {
		var found []dewpond.Violation
		p := newPool(t, dewpond.BytePoolOptions{
			Zero: zero, Check: dewpond.CheckAll, OnViolation: func(v dewpond.Violation) { found = append(found, v) },
		})
		b := p.Get(512)
		copy(b, "written")
		p.PutWritten(b[:7])
		b = p.Get(512)
		b[100], b[102] = 1, 3
		p.PutWritten(b[:7])
		if len(found) != 1 || found[0].Kind != dewpond.WriteBeyond || found[0].Offset != 100 || !bytes.Equal(found[0].New, []byte{1, 0, 3}) ||
			found[0].Got == nil || found[0].Offence == nil {
			t.Fatalf("found %v", found)
		}
		for range 300 { // until it leaves the quarantine
			b := p.Get(512)
			if !bytes.Equal(b, make([]byte, 512)) {
				t.Fatal("it is read by another owner")
			}
			p.Put(b)
		}
		p.Close()
		if len(found) != 1 {
			t.Errorf("found %v", found)
		}
	}
}
