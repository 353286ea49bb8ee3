package arena

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"

	"github.com/dewpond/dewpond/internal/memory"
)

// Decommit reduces the resident memory of this process. Nothing else here is of that
// size.
func TestDecommitIsResident(t *testing.T) {
	a := newTest(t, Config{})
	const size, count = 1 << 20, 64
	debug.FreeOSMemory() // so that memory of other tests is not released during the measurement
	before := resident(t)
	var blocks [][]byte
	for range count {
		b := mustAlloc(t, a, size)
		for i := 0; i < size; i += 4096 {
			b[i] = 1
		}
		blocks = append(blocks, b)
	}
	full := resident(t)
	if full-before < size*count*3/4 {
		t.Fatalf("%d bytes are resident after writing %d: the measurement is off", full-before, size*count)
	}
	if c := a.Usage().Committed; c != size*count {
		t.Errorf("committed %d, want %d", c, size*count)
	}
	for _, b := range blocks {
		a.Free(b)
	}
	if kept := resident(t); full-kept > size*count/4 {
		t.Errorf("Free let %d bytes go: that is for Decommit", full-kept)
	}
	n, err := a.Decommit()
	if n != size*count || err != nil {
		t.Fatalf("Decommit = %d, %v", n, err)
	}
	if fell := full - resident(t); fell < size*count*3/4 {
		t.Errorf("%d bytes fewer are resident after Decommit of %d", fell, n)
	}
	b := mustAlloc(t, a, size)
	if i := notZero(b); i >= 0 {
		t.Errorf("byte %d is %d", i, b[i])
	}
	a.Free(b)
	closeTest(t, a)
}

func resident(t *testing.T) int {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var total, pages int
	if _, err := fmt.Sscan(string(statm), &total, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * pageSize
}

// Memory that is reserved but not handed out, or unmapped, faults.
func TestAccessFaults(t *testing.T) {
	a := newTest(t, Config{})
	b := mustAlloc(t, a, 8192)
	whole := a.space.memory
	if faults(&b[0]) || faults(&whole[a.space.opened<<granuleShift-1]) {
		t.Error("open memory faults")
	}
	if !faults(&whole[a.space.opened<<granuleShift]) || !faults(&whole[len(whole)-1]) {
		t.Error("reserved memory can be read")
	}
	// What looks like a block there is refused, without a fault.
	for _, at := range []int{a.space.opened << granuleShift, len(whole) - 8192} {
		if returnDirectly(a, whole[at:at+8192:at+8192]) {
			t.Errorf("a block at %d", at)
		}
	}
	a.Free(b)
	closeTest(t, a)
	if !faults(&b[0]) {
		t.Error("unmapped memory can be read")
	}
}

func skipWithoutTable(t *testing.T) {
	if platform().table == nil {
		t.Skip("on this system each span has its states on the Go heap")
	}
}

// The states outlive the blocks, for a Put that looks a block up meanwhile, and are
// unmapped with the arena. If they were not, the test would not end.
func TestTableGoesWithArena(t *testing.T) {
	skipWithoutTable(t)
	table := func() []byte {
		a := newTest(t, Config{})
		b := mustAlloc(t, a, 8192)
		blocks := a.Blocks()
		a.Free(b)
		closeTest(t, a)
		if state := blocks.Find(addressOf(b), 8192); state == nil || state.Return(memory.WhenOut(addressOf(b), 8192)) {
			t.Error("a closed arena has a block")
		}
		if faults(&a.space.table.memory[0]) || faults(&a.space.table.memory[len(a.space.table.memory)-1]) {
			t.Error("the states of a closed arena cannot be read")
		}
		runtime.KeepAlive(a)
		return a.space.table.memory
	}()
	for !faults(&table[0]) {
		runtime.GC()
	}
}

// Decommit takes the states of the spans along, and Close those of all: a sixteenth of
// the bytes of small blocks, and a sixty-fourth of those of large ones.
func TestStatesAreDecommitted(t *testing.T) {
	skipWithoutTable(t)
	if raceDetector {
		t.Skip("the race detector has much memory of its own come and go")
	}
	for _, tt := range []struct {
		size, share int
		close       bool
	}{{1024, 16, false}, {1024, 16, true}, {8192, 64, false}, {8192, 64, true}} {
		a := newTest(t, Config{})
		const all = 512 << 20
		blocks := make([][]byte, 0, all/tt.size)
		clear(blocks[:cap(blocks)])
		debug.FreeOSMemory() // so that other memory is not released during the measurement
		before := resident(t)
		for range all / tt.size { // no byte of them is touched
			blocks = append(blocks, mustAlloc(t, a, tt.size))
		}
		states := all / tt.share
		if grown := resident(t) - before; grown < states*3/4 || tt.share > 16 && grown > 2*states {
			t.Fatalf("%d bytes are resident for the states of blocks of %d, not %d", grown, tt.size, states)
		}
		for _, b := range blocks {
			a.Free(b)
		}
		full := resident(t)
		if tt.close {
			closeTest(t, a)
		} else if _, err := a.Decommit(); err != nil {
			t.Error(err)
		}
		if fell := full - resident(t); fell < states*3/4 {
			t.Errorf("%+v: %d bytes fewer are resident, of %d", tt, fell, states)
		}
		closeTest(t, a)
	}
}

var sink byte

func faults(at *byte) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	sink = *at
	return false
}

// An error of the kernel itself is returned as it is.
func TestKernelRefuses(t *testing.T) {
	reserve := int64(1) << 47 // all that a process has, and more than is left
	if ^uint(0)>>63 == 0 {
		reserve = 1<<31 - granule
		// Half of it: there may be room for one, with luck, but not for two.
		if a, err := New(Config{Reserve: reserve}); err == nil {
			defer closeTest(t, a)
		}
	}
	if _, err := New(Config{Reserve: reserve}); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("Reserve %d: %v", reserve, err)
	}

	a := newTest(t, Config{Reserve: 1 << 20})
	b := mustAlloc(t, a, 8192)
	if err := syscall.Mlock(b[:1]); err != nil {
		t.Skip(err)
	}
	a.Free(b)
	if n, err := a.Decommit(); n != 0 || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("Decommit of locked memory = %d, %v", n, err)
	}
	if err := syscall.Munlock(b[:1]); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Decommit(); n == 0 || err != nil {
		t.Errorf("Decommit = %d, %v", n, err)
	}
	closeTest(t, a)
}

// Each error that the kernel may return, from each call, is wrapped.
func TestErrnosAreWrapped(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOMEM, syscall.EAGAIN, syscall.EINVAL, syscall.EPERM} {
		real := platform()
		var refused []string
		refuse := func(name string) error {
			if !slices.Contains(refused, name) {
				refused = append(refused, name)
				return errno
			}
			return nil
		}
		sys := system{
			reserve: func(bytes int) ([]byte, error) {
				if err := refuse("reserve"); err != nil {
					return nil, err
				}
				return real.reserve(bytes)
			},
			table: func(bytes int) ([]byte, error) {
				if err := refuse("table"); err != nil {
					return nil, err
				}
				return real.table(bytes)
			},
			dropTable: real.dropTable,
			open:      func(part []byte) error { return errors.Join(refuse("open"), real.open(part)) },
			decommit: func(part []byte) error {
				if err := refuse("decommit"); err != nil {
					return err
				}
				return real.decommit(part)
			},
			unmap: func(all []byte) error {
				if err := refuse("unmap"); err != nil {
					return err
				}
				return real.unmap(all)
			},
		}
		names := []string{"table", "reserve"}
		if real.table == nil {
			sys.table, names = nil, names[1:]
		}
		for _, name := range names {
			if _, err := newArena(Config{Reserve: granule}, sys); !errors.Is(err, errno) || !slices.Contains(refused, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		a, err := newArena(Config{Reserve: granule}, sys)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Alloc(64); !errors.Is(err, errno) {
			t.Errorf("open: %v", err)
		}
		a.Free(mustAlloc(t, a, 64))
		if _, err := a.Decommit(); !errors.Is(err, errno) {
			t.Errorf("decommit: %v", err)
		}
		if err := a.Close(); !errors.Is(err, errno) {
			t.Errorf("unmap: %v", err)
		}
		closeTest(t, a)
	}
}
