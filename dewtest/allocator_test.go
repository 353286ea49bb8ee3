package dewtest_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// A shelf is an Allocator that uses its memory again, and breaks a promise if it is told to.
type shelf struct {
	breaks string

	mu   sync.Mutex
	free map[int][][]byte
	own  map[*byte]int // sizes of all blocks
}

func newShelf(breaks string) *shelf {
	return &shelf{breaks: breaks, free: map[int][][]byte{}, own: map[*byte]int{}}
}

func (s *shelf) Alloc(size int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.breaks == "memory" {
		return nil, errors.New("there is none")
	}
	b := make([]byte, size, size+64)
	if s.breaks == "alignment" {
		b = b[8 : size+8]
	}
	if free := s.free[size]; len(free) > 0 {
		b = free[len(free)-1]
		if s.breaks != "one owner" {
			s.free[size] = free[:len(free)-1]
		}
		if s.breaks != "zero" {
			clear(b)
		}
	}
	switch s.breaks {
	case "len":
		return b[: size-1 : size], nil
	case "cap":
		return b, nil
	}
	s.own[&b[0]] = size
	return b[:size:size], nil
}

func (s *shelf) Free(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[len(b)] = append(s.free[len(b)], b)
}

func (s *shelf) Owns(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := s.own[&b[:1][0]]
	switch s.breaks {
	case "Owns its own":
		return size == len(b)
	case "Owns foreign":
		return size == 0 || size == cap(b)
	case "Owns less":
		return size != 0
	}
	return size != 0 && size == cap(b)
}

func TestAllocatorThatKeepsItsPromises(t *testing.T) {
	dewtest.TestAllocator(t, newShelf(""), 64, 1024, 7168, 64<<10)
}

// The default sizes are those of a pool's default.
func TestAllocatorDefaultSizes(t *testing.T) {
	s := newShelf("")
	dewtest.TestAllocator(t, s)
	for _, size := range dewpond.DefaultClasses() {
		if len(s.free[size]) == 0 {
			t.Errorf("no block of %d bytes was asked for", size)
		}
	}
}

// Each broken promise is reported once.
func TestAllocatorThatBreaksAPromise(t *testing.T) {
	for breaks, want := range map[string]string{
		"memory":       "Alloc(64): there is none",
		"len":          "returned 63 bytes with cap 64",
		"cap":          "returned 64 bytes with cap 128",
		"alignment":    "no multiple of 16",
		"zero":         "whose byte 0 is 0x1",
		"Owns its own": "bytes of a block of",
		"Owns foreign": "is true, for a block of",
		"Owns less":    "Owns of a slice of a block with less cap is true",
		"one owner":    "overlap",
	} {
		f := &failures{name: breaks}
		dewtest.TestAllocator(f, newShelf(breaks), 64, 128)
		if len(f.errors) != 1 || !strings.Contains(f.errors[0], want) {
			t.Errorf("%s: reports %q, want %q", breaks, f.errors, want)
		}
	}
}
