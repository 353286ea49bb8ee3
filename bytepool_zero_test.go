package dewpond_test

import (
	"bytes"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// The owner reslices to cap, writes everywhere and puts back a shorter slice. A
// pool that clears the length alone leaves the rest: here the next owner reads
// nothing of it, through any length.
func TestZeroing(t *testing.T) {
	secret := bytes.Repeat([]byte("secret"), 1<<14)
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever} {
		for _, size := range []int{1, 100, 8000, 60000} {
			p := newPool(t, dewpond.BytePoolOptions{Zero: zero, AllocLimit: 1 << 20})
			leaked := 0
			for i := range 50 {
				var b []byte
				switch i % 3 { // each way to a block
				case 0:
					b = p.Get(size)
				case 1:
					b, _ = p.TryGet(size)
				case 2:
					b, _ = p.GetContext(t.Context(), size)
				}
				whole := b[:cap(b)]
				if bytes.Count(whole, []byte{0}) != len(whole) {
					leaked++
				}
				copy(whole, secret)
				p.Put(b[:i%2])
			}
			if zero == dewpond.ZeroNever {
				if leaked == 0 {
					t.Errorf("%d bytes: with ZeroNever nothing was left to read, so this test cannot fail", size)
				}
			} else if leaked > 0 {
				t.Errorf("policy %d, %d bytes: %d of 50 blocks still had bytes of their last owner", zero, size, leaked)
			}
		}
	}
}

// A block that a Put hands straight to a waiter is cleared like any other.
func TestZeroingOfHandedBlock(t *testing.T) {
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet} {
		synctest.Test(t, func(t *testing.T) { // where no second ends, after which AllocLimit allows one more
			p := newPool(t, dewpond.BytePoolOptions{Zero: zero, AllocLimit: 1})
			out := p.Get(100)
			got := make(chan []byte)
			go func() {
				b, _ := p.GetContext(t.Context(), 100)
				got <- b
			}()
			synctest.Wait()
			if !dewpond.Waiting(p) {
				t.Fatal("nobody waits")
			}
			copy(out[:cap(out)], bytes.Repeat([]byte{1}, 128))
			p.Put(out[:1])
			b := <-got
			if bytes.Count(b[:cap(b)], []byte{0}) != cap(b) {
				t.Errorf("policy %d: the waiter reads bytes of the last owner", zero)
			}
			p.Put(b)
		})
	}
}

func TestGrowAndAppendLeaveNothingBehind(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Append(nil, bytes.Repeat([]byte{1}, 100)...)
	b = p.Append(b, bytes.Repeat([]byte{2}, 1000)...) // the first block went back
	old := p.Get(100)
	if bytes.Count(old[:cap(old)], []byte{0}) != cap(old) {
		t.Error("the block that Append gave back still has its bytes")
	}
	p.Put(old)
	p.Put(b)
}
