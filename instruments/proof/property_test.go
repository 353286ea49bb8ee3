package proof

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/dewpond/dewpond"
)

// A buffer is one that a user holds: only this user writes to it.
type buffer struct {
	b     []byte
	stamp byte
}

// A user makes any calls in any order and knows what must result.
type user struct {
	pool    *dewpond.BytePool
	options dewpond.BytePoolOptions
	held    []buffer
	closed  bool
	stamp   byte
}

// TestAnySequenceOfCalls checks that whatever one user does, no two buffers overlap,
// caps are classes, bounds and counts hold, and Trim releases what Stats said is idle.
func TestAnySequenceOfCalls(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		u := &user{options: dewpond.BytePoolOptions{
			Classes:         []int{64, 256, 1024, 64 << 10},
			MaxIdleBytes:    rapid.SampledFrom([]int64{0, 1 << 10, 100_000, dewpond.NoIdle}).Draw(t, "MaxIdleBytes"),
			MaxIdlePerClass: rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "MaxIdlePerClass"),
			AllocRate:       rapid.SampledFrom([]int{0, 5}).Draw(t, "AllocRate"),
			Zero:            rapid.SampledFrom([]dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever}).Draw(t, "Zero"),
		}}
		u.pool = dewpond.MustBytePool(u.options)
		defer u.pool.Close()
		t.Repeat(map[string]func(*rapid.T){
			"get":    func(t *rapid.T) { u.got(t, u.pool.Get(size(t)), nil) },
			"tryGet": func(t *rapid.T) { b, err := u.pool.TryGet(size(t)); u.got(t, b, err) },
			"put":    u.put,
			"puts": func(t *rapid.T) { // more than fit
				for len(u.held) > 0 {
					u.put(t)
				}
			},
			"foreign": func(*rapid.T) { u.pool.Put(make([]byte, 96)) },
			"grow":    u.grow,
			"append":  u.append,
			"prewarm": u.prewarm,
			"trim":    u.trim,
			"procs":   func(t *rapid.T) { runtime.GOMAXPROCS(rapid.IntRange(1, 6).Draw(t, "GOMAXPROCS")) },
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					u.pool.Close()
					u.closed = true
				}
			},
			"": u.check,
		})
	})
}

func size(t *rapid.T) int {
	return rapid.SampledFrom([]int{0, 1, 64, 65, 256, 1000, 1024, 1025, 64 << 10, 64<<10 + 1}).Draw(t, "size")
}

func (u *user) got(t *rapid.T, b []byte, err error) {
	switch {
	case err != nil && !errors.Is(err, dewpond.ErrExhausted) && !errors.Is(err, dewpond.ErrClosed), errors.Is(err, dewpond.ErrClosed) != (err != nil && u.closed):
		t.Fatalf("error %v; closed: %v", err, u.closed)
	case err != nil:
		return
	}
	if u.options.Zero != dewpond.ZeroNever && bytes.Count(b[:cap(b)], []byte{0}) != cap(b) {
		t.Fatalf("a block of %d bytes still has bytes of an earlier owner", cap(b))
	}
	u.hold(b)
}

// hold stamps a buffer over its whole cap.
func (u *user) hold(b []byte) {
	u.stamp++
	for i := range b[:cap(b)] {
		b[:cap(b)][i] = u.stamp
	}
	u.held = append(u.held, buffer{b, u.stamp})
}

// take gives up a buffer, which no other owner may have written to.
func (u *user) take(t *rapid.T) []byte {
	if len(u.held) == 0 {
		t.Skip()
	}
	i := rapid.IntRange(0, len(u.held)-1).Draw(t, "which")
	h := u.held[i]
	if whole := h.b[:cap(h.b)]; bytes.Count(whole, []byte{h.stamp}) != len(whole) {
		t.Fatalf("a buffer of %d bytes was written to by another owner", len(whole))
	}
	u.held = slices.Delete(u.held, i, i+1)
	return h.b
}

func (u *user) put(t *rapid.T) {
	b := u.take(t)
	u.pool.Put(b[:rapid.IntRange(0, cap(b)).Draw(t, "length")])
}

func (u *user) grow(t *rapid.T) {
	old := u.take(t)
	stamp := append([]byte(nil), old...)
	n := size(t)
	b := u.pool.Grow(old, n)
	if !bytes.Equal(b, stamp) || cap(b)-len(b) < n {
		t.Fatalf("Grow by %d from %d: len %d, cap %d", n, len(stamp), len(b), cap(b))
	}
	u.hold(b)
}

func (u *user) append(t *rapid.T) {
	old := u.take(t)
	want := append([]byte(nil), old...)
	x := bytes.Repeat([]byte{7}, size(t))
	want = append(want, x...)
	b := u.pool.Append(old, x...)
	if !bytes.Equal(b, want) {
		t.Fatalf("Append of %d bytes to %d went wrong", len(x), len(old))
	}
	u.hold(b)
}

func (u *user) prewarm(t *rapid.T) {
	before := u.pool.Stats().IdleBytes
	n := rapid.IntRange(0, 5).Draw(t, "count")
	err := u.pool.Prewarm(64, n)
	if after := u.pool.Stats().IdleBytes; err == nil && after != before+int64(64*n) || u.closed && n > 0 && !errors.Is(err, dewpond.ErrClosed) {
		t.Fatalf("Prewarm(64, %d): %v; %d bytes were idle, now %d", n, err, before, after)
	}
}

func (u *user) trim(t *rapid.T) {
	idle := u.pool.Stats().IdleBytes
	if released := u.pool.Trim(); released != idle || u.pool.Stats().IdleBytes != 0 {
		t.Fatalf("%d bytes were idle; Trim released %d and %d are left", idle, released, u.pool.Stats().IdleBytes)
	}
}

func (u *user) check(t *rapid.T) {
	s := u.pool.Stats()
	limit := u.options.MaxIdleBytes
	switch {
	case limit == 0:
		limit = 64 << 20
	case limit == dewpond.NoIdle || u.closed:
		limit = 0
	}
	if s.IdleBytes > limit || u.closed && s.IdleBytes > 0 {
		t.Fatalf("%d bytes are idle, at most %d are allowed", s.IdleBytes, limit)
	}
	inUse, seen := int64(0), map[*byte]bool{}
	for _, h := range u.held {
		if cap(h.b) > 64<<10 || cap(h.b) == 0 {
			continue // oversize, or nothing: not a block
		}
		if !slices.Contains(u.options.Classes, cap(h.b)) {
			t.Fatalf("a buffer's cap is %d, no class", cap(h.b))
		}
		if at := unsafe.SliceData(h.b); seen[at] {
			t.Fatal("two buffers are one block")
		} else {
			seen[at] = true
		}
		inUse += int64(cap(h.b))
	}
	if s.InUseBytes != inUse {
		t.Fatalf("%d bytes are held, Stats say %d", inUse, s.InUseBytes)
	}
	for _, c := range s.Classes {
		if limit := u.options.MaxIdlePerClass; limit > 0 && c.Idle > limit {
			t.Fatalf("%d blocks of %d are idle, at most %d are allowed", c.Idle, c.Size, limit)
		}
		if c.Gets != c.Hits+c.Misses {
			t.Fatalf("%+v", c)
		}
	}
}
