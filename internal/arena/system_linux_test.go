package arena

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
)

// The resident memory of this process really falls with Decommit. Nothing else here
// is of that size.
func TestDecommitIsResident(t *testing.T) {
	a := newTest(t, Config{})
	const size, count = 1 << 20, 64
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
	a.Free(b)
	closeTest(t, a)
	if !faults(&b[0]) {
		t.Error("unmapped memory can be read")
	}
}

var sink byte

func faults(at *byte) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	sink = *at
	return false
}

// What the kernel itself refuses comes back as its own error.
func TestKernelRefuses(t *testing.T) {
	reserve := int64(1) << 47 // all that a process has, and more than is left
	if ^uint(0)>>63 == 0 {
		reserve = 1<<31 - granule
		a := newTest(t, Config{Reserve: reserve}) // half of it
		defer closeTest(t, a)
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

// Each of the errors that the kernel may return, from each call, is wrapped.
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
			open: func(part []byte) error { return errors.Join(refuse("open"), real.open(part)) },
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
		if _, err := newArena(Config{Reserve: granule}, sys); !errors.Is(err, errno) {
			t.Errorf("reserve: %v", err)
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
