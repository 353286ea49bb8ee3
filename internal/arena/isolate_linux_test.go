//go:build !race

package arena

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
)

// guardingSystems returns the ways in which this system can make pages fault: its best,
// and the others.
func guardingSystems() map[string]system {
	old := platform()
	old.mark = func([]byte) error { return syscall.EINVAL }
	old.unmark = old.mark
	return map[string]system{"best": platform(), "mappings": old}
}

// A guarded block faults on all of its pages, and nothing else does; after Unguard it
// is a block again. The byte behind a block always faults.
func TestGuardFaults(t *testing.T) {
	for name, sys := range guardingSystems() {
		t.Run(name, func(t *testing.T) {
			a := newIsolated(t, sys, 2000)
			for _, size := range []int{64, 80, 4096, 4608, 8192, 33280, 1 << 20} {
				blocks := [][]byte{mustAlloc(t, a, size), mustAlloc(t, a, size), mustAlloc(t, a, size)}
				for _, b := range blocks {
					if a.find(b); !a.Owns(b) || addressOf(b)%Multiple != 0 {
						t.Fatalf("size %d: no block at %x", size, addressOf(b))
					}
					if !faults(past(b)) {
						t.Errorf("size %d: nothing faults behind a block", size)
					}
					fill(b, 0xAA)
				}
				b := blocks[1]
				for round := range 3 {
					if !a.Guard(b) {
						t.Fatalf("size %d: not guarded", size)
					}
					for at := 0; at < size; at += max(Multiple, size/256) {
						if !faults(&b[at]) {
							t.Fatalf("size %d, round %d: byte %d does not fault", size, round, at)
						}
					}
					if !faults(&b[size-1]) || !faults(past(b)) {
						t.Errorf("size %d: its end does not fault", size)
					}
					for _, other := range [][]byte{blocks[0], blocks[2]} {
						if faults(&other[0]) || faults(&other[size-1]) || other[0] != 0xAA {
							t.Errorf("size %d: another block was touched", size)
						}
					}
					a.Unguard(b)
					if faults(&b[0]) || faults(&b[size-1]) || !faults(past(b)) {
						t.Errorf("size %d: not as it was", size)
					}
					fill(b, 0xBB)
				}
				for _, b := range blocks {
					a.Free(b)
				}
				again := mustAlloc(t, a, size) // in the same place, dirty
				if i := notZero(again); i >= 0 {
					t.Errorf("size %d: byte %d is %d", size, i, again[i])
				}
				a.Free(again)
			}
			if n, err := a.Decommit(); n == 0 || err != nil {
				t.Fatalf("Decommit = %d, %v", n, err)
			}
			// Granules that were cut for some sizes are cut for others.
			for _, size := range []int{1 << 20, 8192, 64} {
				b := mustAlloc(t, a, size)
				if i := notZero(b); i >= 0 {
					t.Errorf("size %d, cut anew: byte %d is %d", size, i, b[i])
				}
				fill(b, 1)
				a.Free(b)
			}
			closeTest(t, a)
		})
	}
}

// A pool that becomes unreachable leaves blocks guarded: its spans are decommitted
// nevertheless.
func TestAbandonGuarded(t *testing.T) {
	for name, sys := range guardingSystems() {
		a := newIsolated(t, sys, 200)
		idle, out := mustAlloc(t, a, 64), mustAlloc(t, a, 8192)
		a.Issue(out)
		a.Guard(idle)
		a.Abandon()
		if u := a.Usage(); u.Blocks != 1 || u.Spans != 1 || faults(&idle[0]) || faults(&out[0]) {
			t.Errorf("%s: %+v", name, u)
		}
		a.Return(out)
		a.Free(out)
	}
}

// With byMapping, a block has a mapping of its own for as long as its span lives,
// guarded or not, so Unguard cannot be refused for lack of one. Once the span is gone
// the mappings merge again.
func TestGuardMappings(t *testing.T) {
	a := newIsolated(t, guardingSystems()["mappings"], 200)
	var blocks [][]byte
	for range 20 {
		blocks = append(blocks, mustAlloc(t, a, 64))
	}
	guarded := slices.Concat(blocks[3:7], blocks[15:16], blocks[:1])
	want := mappings(t, a)
	for i, b := range guarded {
		if !a.Guard(b) || mappings(t, a) > want {
			t.Errorf("%d: %d mappings with it guarded, %d before", i, mappings(t, a), want)
		}
	}
	before := mappings(t, a)
	for _, b := range guarded {
		a.Unguard(b)
	}
	if after := mappings(t, a); after > before {
		t.Errorf("%d mappings after Unguard, %d before", after, before)
	}
	for _, b := range blocks {
		a.Free(b)
	}
	if _, err := a.Decommit(); err != nil {
		t.Fatal(err)
	}
	if left := mappings(t, a); left > want-3*8*2 {
		t.Errorf("%d mappings with the spans gone, %d with three", left, want)
	}
	closeTest(t, a)
}

// mappings counts the mappings in the arena's range: the Go runtime has others, and
// makes more.
func mappings(t *testing.T, a *Arena) (n int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(maps) {
		var from, to uint64
		if _, err := fmt.Sscanf(string(line), "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		if from < uint64(a.base+a.size) && to > uint64(a.base) {
			n++
		}
	}
	return n
}

// If no more mappings are available, as after 65530, blocks are not guarded, and can be
// used. (Using up those of this process would kill it when the Go runtime needs one.)
func TestGuardWithoutMappings(t *testing.T) {
	sys := guardingSystems()["mappings"]
	calls, hide := 0, sys.hide
	sys.hide = func(part []byte) error {
		if calls++; calls > 100 {
			return syscall.ENOMEM
		}
		return hide(part)
	}
	a := newIsolated(t, sys, 200)
	var blocks [][]byte
	for i := range 200 {
		b := mustAlloc(t, a, 4096)
		blocks = append(blocks, b)
		fill(b, 1)
		switch guarded := a.Guard(b); {
		case guarded:
			a.Unguard(b)
		case i == 0:
			t.Fatal("the first block was not guarded")
		case faults(&b[0]) || b[0] != 1 || b[4095] != 1:
			t.Fatalf("block %d was not guarded, nor is it as it was", i)
		}
	}
	if a.Guard(blocks[0]) || a.Guard(blocks[199]) || faults(past(blocks[199])) || !faults(past(blocks[0])) {
		t.Error("the last span has fences, or the first has none")
	}
	for _, b := range blocks {
		a.Free(b)
	}
	if _, err := a.Decommit(); err != nil || a.Usage().Spans != 0 {
		t.Errorf("Decommit: %v, %+v", err, a.Usage())
	}
	b := mustAlloc(t, a, 1<<20)
	if i := notZero(b); i >= 0 {
		t.Errorf("byte %d is %d", i, b[i])
	}
	a.Free(b)
	closeTest(t, a)
}

// past returns the byte right behind a block.
func past(b []byte) *byte {
	return &unsafeSlice(b, len(b)+1)[len(b)]
}

func fill(b []byte, with byte) {
	for i := range b {
		b[i] = with
	}
}
