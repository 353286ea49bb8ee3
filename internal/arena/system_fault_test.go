package arena

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// errRefused stands for any error of the system: the arena only wraps it.
var errRefused = errors.New("refused")

// A fakeSystem maps memory of the Go heap, and refuses the calls it is told to. It
// names calls for the table of states differently.
type fakeSystem struct {
	refuse map[string]func(bytes int) bool
	calls  map[string]int
	zeroed int // bytes decommitted
	table  []byte
}

func newFakeSystem() *fakeSystem {
	return &fakeSystem{refuse: map[string]func(int) bool{}, calls: map[string]int{}}
}

func (f *fakeSystem) call(name string, bytes int) error {
	f.calls[name]++
	if refuse := f.refuse[name]; refuse != nil && refuse(bytes) {
		return errRefused
	}
	return nil
}

// inTable reports whether a part belongs to the table.
func (f *fakeSystem) inTable(part []byte) bool {
	return addressOf(part)-addressOf(f.table) < uintptr(len(f.table))
}

func (f *fakeSystem) system() system {
	return system{
		reserve: func(bytes int) ([]byte, error) {
			if err := f.call("reserve", bytes); err != nil {
				return nil, err
			}
			return newHeap().alloc(bytes >> granuleShift), nil
		},
		table: func(bytes int) ([]byte, error) {
			if err := f.call("table", bytes); err != nil {
				return nil, err
			}
			f.table = make([]byte, bytes)
			return f.table, nil
		},
		dropTable: func([]byte) error { return nil }, // it may run at any time, so no test may count it
		open: func(part []byte) error {
			if f.inTable(part) {
				return f.call("open table", len(part))
			}
			return f.call("open", len(part))
		},
		decommit: func(part []byte) error {
			if f.inTable(part) {
				if i := notZero(part); i >= 0 {
					return fmt.Errorf("the state at %d is of a block", i)
				}
				return f.call("decommit table", len(part))
			}
			if err := f.call("decommit", len(part)); err != nil {
				return err
			}
			clear(part)
			f.zeroed += len(part)
			return nil
		},
		unmap: func(all []byte) error { return f.call("unmap", len(all)) },
	}
}

func always(int) bool { return true }

func newFaulty(t *testing.T, f *fakeSystem, granules int) *Arena {
	t.Helper()
	a, err := newArena(Config{Reserve: int64(granules) * granule}, f.system())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestReserveRefused(t *testing.T) {
	for _, name := range []string{"reserve", "table"} {
		f := newFakeSystem()
		f.refuse[name] = always
		a, err := newArena(Config{Reserve: 1 << 20}, f.system())
		if a != nil || !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "1048576 bytes of address space") ||
			!strings.Contains(err.Error(), "set offheap.Options.Reserve to less") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The size that the error suggests fits, with as much left; and nothing that was only
// tried stays reserved.
func TestReserveRefusedSaysWhatFits(t *testing.T) {
	for _, name := range []string{"reserve", "table"} {
		f := newFakeSystem()
		f.refuse[name] = func(bytes int) bool { return bytes > 3<<20 }
		reserve := int64(16 << 20)
		if name == "table" {
			reserve *= granule / int64(smallPart+largePart)
		}
		_, err := newArena(Config{Reserve: reserve}, f.system())
		var fits int64
		if err != nil {
			_, said, _ := strings.Cut(err.Error(), "set offheap.Options.Reserve to at most ")
			fmt.Sscan(said, &fits)
		}
		if !errors.Is(err, errRefused) || fits == 0 || fits >= reserve/8 || f.calls["unmap"] == 0 {
			t.Errorf("%s: at most %d: %v", name, fits, err)
			continue
		}
		for _, n := range []int64{fits, 2 * fits} {
			if _, err := newArena(Config{Reserve: n}, f.system()); err != nil {
				t.Errorf("%s: %d should fit: %v", name, n, err)
			}
		}
	}
}

// If the system opens less than the step, the bytes that were asked for suffice; if it
// opens nothing, Alloc returns an error, and works again once the system does.
func TestOpenRefused(t *testing.T) {
	f := newFakeSystem()
	a := newFaulty(t, f, 200)
	f.refuse["open"] = func(bytes int) bool { return bytes > granule }
	b := mustAlloc(t, a, 8192)
	if u := a.Usage(); f.calls["open"] != 2 || u.Opened != granule {
		t.Errorf("%d calls of open, %d bytes opened", f.calls["open"], u.Opened)
	}
	f.refuse["open"] = always
	if b, err := a.Alloc(1 << 20); b != nil || !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("Alloc: %v", err)
	}
	if u := a.Usage(); u.Blocks != 1 || u.Spans != 1 || u.Spanned != granule {
		t.Errorf("a refused Alloc left something: %+v", u)
	}
	mustAlloc(t, a, 8192) // in the open span
	f.refuse["open"] = nil
	mustAlloc(t, a, 1<<20)
	if u := a.Usage(); u.Opened != granule+openStep*granule || !a.Owns(b) {
		t.Errorf("%d bytes opened", u.Opened)
	}
}

// Nothing is lost either if the system does not open the states, or does not take them
// back.
func TestTableRefused(t *testing.T) {
	f := newFakeSystem()
	a := newFaulty(t, f, 200)
	f.refuse["open table"] = always
	if b, err := a.Alloc(8192); b != nil || !errors.Is(err, errRefused) || a.Usage().Opened != 0 {
		t.Errorf("Alloc: %v, %+v", err, a.Usage())
	}
	f.refuse["open table"] = nil
	b := mustAlloc(t, a, 1<<20)
	b[0] = 1
	a.Free(b)
	f.refuse["decommit table"] = always
	if n, err := a.Decommit(); n != 0 || !errors.Is(err, errRefused) || f.calls["decommit"] != 0 || a.Usage().Spans != 1 {
		t.Errorf("Decommit = %d, %v, %+v", n, err, a.Usage())
	}
	if b = mustAlloc(t, a, 1<<20); b[0] != 0 {
		t.Error("not zero")
	}
	a.Free(b)
	f.refuse["decommit table"] = nil
	if n, err := a.Decommit(); n != 1<<20 || err != nil {
		t.Errorf("Decommit = %d, %v", n, err)
	}
	if f.calls["decommit table"] != 3 { // refused, then both parts
		t.Errorf("the states were decommitted %d times", f.calls["decommit table"])
	}
	f.refuse["decommit table"] = always // the range is unmapped nevertheless
	closeTest(t, a)
}

// A refused decommit loses nothing: the spans remain in use, dirty, and the next
// Decommit takes them. Neighbours go in one call, and one that is refused does not stop
// the others.
func TestDecommitRefused(t *testing.T) {
	f := newFakeSystem()
	a := newFaulty(t, f, 200)
	var blocks [][]byte
	for range 5 {
		b := mustAlloc(t, a, 1<<20)
		for i := range b {
			b[i] = 0xAA
		}
		blocks = append(blocks, b)
	}
	for _, i := range []int{0, 1, 3} { // 2 MiB, and 1 MiB apart
		a.Free(blocks[i])
	}
	f.refuse["decommit"] = func(bytes int) bool { return bytes == 2<<20 }
	n, err := a.Decommit()
	if n != 1<<20 || !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "2097152") || f.calls["decommit"] != 2 {
		t.Errorf("Decommit = %d, %v in %d calls; want 1 MiB in 2", n, err, f.calls["decommit"])
	}
	if u := a.Usage(); u.Committed != 4<<20 || u.Spans != 4 || u.Decommitted != 1<<20 {
		t.Errorf("%+v", u)
	}
	if owned, accepted := a.Return(blocks[0]); !owned || accepted {
		t.Errorf("a free block of a span that stayed: %v, %v", owned, accepted)
	}
	b := mustAlloc(t, a, 1<<20)
	if i := notZero(b); i >= 0 || &b[0] != &blocks[0][0] {
		t.Errorf("byte %d of the block that stayed is %d", i, b[i])
	}
	a.Free(b)
	f.refuse["decommit"] = nil
	if n, err := a.Decommit(); n != 2<<20 || err != nil || f.zeroed != 3<<20 {
		t.Errorf("Decommit = %d, %v", n, err)
	}
	if n, err := a.Decommit(); n != 0 || err != nil || f.calls["decommit"] != 3 {
		t.Errorf("Decommit of nothing = %d, %v, %d calls", n, err, f.calls["decommit"])
	}
}

// If Close runs while Decommit has spans in hand, they stay mapped until it is done,
// and then the range is unmapped, whether the system took them or not.
func TestCloseInDecommit(t *testing.T) {
	for _, refused := range []bool{false, true} {
		f := newFakeSystem()
		a := newFaulty(t, f, 200)
		b := mustAlloc(t, a, 1<<20)
		b[0] = 1
		a.Free(b)
		f.refuse["decommit"] = func(int) bool {
			if err := a.Close(); err != nil || f.calls["unmap"] != 0 {
				t.Errorf("Close: %v, %d calls of unmap", err, f.calls["unmap"])
			}
			return refused
		}
		if _, err := a.Decommit(); (err != nil) != refused {
			t.Errorf("Decommit: %v", err)
		}
		if f.calls["unmap"] != 1 {
			t.Errorf("unmap called %d times", f.calls["unmap"])
		}
		closeTest(t, a)
	}
}

// A full arena whose decommit is refused only refuses the block.
func TestFullAndDecommitRefused(t *testing.T) {
	f := newFakeSystem()
	a := newFaulty(t, f, 2)
	b := mustAlloc(t, a, 2*granule)
	a.Free(b)
	f.refuse["decommit"] = always
	if _, err := a.Alloc(64); !errors.Is(err, ErrFull) {
		t.Errorf("Alloc: %v", err)
	}
	mustAlloc(t, a, 2*granule)
}

// An Alloc that finds all room in the hands of a Decommit waits for it, and then has
// the room, whether the system took the memory or not.
func TestFullWaitsForDecommit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		refused bool // the system takes nothing
		size    int  // of the block that is asked for next; the one in hand has 2 granules
		err     error
	}{
		{"taken", false, 64, nil},
		{"refused, and of the size that is asked for", true, 2 * granule, nil},
		{"refused, and of another", true, 64, ErrFull},
	} {
		t.Run(tt.name, func(t *testing.T) {
			looked := make(chan struct{}, 100) // after each look for room, and each Decommit
			f := newFakeSystem()
			a, err := newArena(Config{Reserve: 2 * granule, Changed: func() { looked <- struct{}{} }}, f.system())
			if err != nil {
				t.Fatal(err)
			}
			a.Free(mustAlloc(t, a, 2*granule))
			inHand, release := make(chan struct{}), make(chan struct{})
			first := true
			f.refuse["decommit"] = func(int) bool {
				if first {
					first = false
					close(inHand)
					<-release
				}
				return tt.refused
			}
			decommitted := make(chan struct{})
			go func() {
				defer close(decommitted)
				if _, err := a.Decommit(); (err != nil) != tt.refused {
					t.Errorf("Decommit: %v", err)
				}
			}()
			<-inHand
			for len(looked) > 0 {
				<-looked
			}
			allocated := make(chan error)
			go func() {
				_, err := a.Alloc(tt.size)
				allocated <- err
			}()
			<-looked // and found no room
			close(release)
			if err := <-allocated; !errors.Is(err, tt.err) {
				t.Errorf("Alloc: %v, want %v", err, tt.err)
			}
			<-decommitted
		})
	}
}

// A range that the system does not unmap is kept, decommitted if possible, and unmapped
// by the next Close.
func TestUnmapRefused(t *testing.T) {
	f := newFakeSystem()
	a := newFaulty(t, f, 200)
	b, d := mustAlloc(t, a, 8192), mustAlloc(t, a, 1<<20)
	f.refuse["unmap"] = always
	var in *InUseError
	if err := a.Close(); !errors.As(err, &in) || f.calls["unmap"] != 0 {
		t.Fatalf("Close with two held: %v", err)
	}
	a.Free(b)
	a.Free(d) // tries, and has no way to return the error
	if f.calls["unmap"] != 1 {
		t.Errorf("unmap called %d times", f.calls["unmap"])
	}
	if err := a.Close(); !errors.Is(err, errRefused) || a.Usage().Reserved == 0 {
		t.Errorf("Close: %v, %+v", err, a.Usage())
	}
	if n, err := a.Decommit(); n != 1<<20+8192 || !errors.Is(err, errRefused) || a.Usage().Committed != 0 {
		t.Errorf("Decommit = %d, %v, %+v", n, err, a.Usage())
	}
	f.refuse["unmap"] = nil
	closeTest(t, a)
	if f.calls["unmap"] != 4 {
		t.Errorf("unmap called %d times, want 4", f.calls["unmap"])
	}
	if err := a.Close(); err != nil || f.calls["unmap"] != 4 {
		t.Errorf("a second Close: %v, %d calls", err, f.calls["unmap"])
	}
}
