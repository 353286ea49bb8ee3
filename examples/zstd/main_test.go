package main

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/klauspost/compress/zstd"
)

// A life counts how often each decoder was made and dropped. Drop may be called by
// several goroutines at once.
type life struct {
	mu            sync.Mutex
	made, dropped map[*zstd.Decoder]int
}

// watched returns a pool whose decoders are counted.
func watched(o dewpond.PoolOptions[zstd.Decoder]) (*dewpond.Pool[zstd.Decoder], *life) {
	l := &life{made: map[*zstd.Decoder]int{}, dropped: map[*zstd.Decoder]int{}}
	makeOne, drop := o.New, o.Drop
	o.New = func() *zstd.Decoder {
		d := makeOne()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.made[d]++
		return d
	}
	o.Drop = func(d *zstd.Decoder) {
		drop(d)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dropped[d]++
	}
	return dewpond.MustPool(o), l
}

func isClosed(d *zstd.Decoder) bool {
	_, err := d.DecodeAll(nil, nil)
	return errors.Is(err, zstd.ErrDecoderClosed)
}

// A decoder is closed once, whether the pool releases it for lack of room, in Trim, in
// Close, or in a Put after Close.
func TestDropClosesEachDecoderOnce(t *testing.T) {
	o := decoders()
	o.MaxIdle = 3
	pool, l := watched(o)
	take := func(n int) (taken []*zstd.Decoder) {
		for range n {
			taken = append(taken, pool.Get())
		}
		return taken
	}
	give := func(given []*zstd.Decoder) {
		for _, d := range given {
			pool.Put(d)
		}
	}

	give(take(8))
	full := pool.Stats().Dropped.Full
	if full < 5 || len(l.dropped) != int(full) {
		t.Errorf("%d of 8 had no room and %d were dropped; want 5 or more, and as many", full, len(l.dropped))
	}
	pool.Trim()
	if len(l.dropped) != 8 {
		t.Errorf("%d of 8 were dropped after Trim", len(l.dropped))
	}

	out := take(2)
	give(take(2))
	pool.Close()
	pool.Close()
	for _, d := range out {
		if l.dropped[d] != 0 || isClosed(d) {
			t.Error("Close has closed a decoder in use")
		}
	}
	give(out)

	if len(l.made) != 12 {
		t.Errorf("%d decoders were made, want 12", len(l.made))
	}
	for d, made := range l.made {
		if made != 1 || l.dropped[d] != 1 || !isClosed(d) {
			t.Errorf("a decoder was made %d times and dropped %d times, closed: %v; want 1, 1, true", made, l.dropped[d], isClosed(d))
		}
	}
}

// Many goroutines decode good streams and truncated ones, on one pool.
func TestDecodersInParallel(t *testing.T) {
	pool, l := watched(decoders())
	want := strings.Repeat("dewpond ", 50_000)
	message := compressed(want)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				source := message
				if (g+i)%3 == 0 {
					source = message[:len(message)-5]
				}
				var got strings.Builder
				err := decode(pool, &got, strings.NewReader(source))
				if whole := len(source) == len(message); whole != (err == nil) || whole && got.String() != want {
					t.Errorf("whole stream: %v; %d bytes of %d, error %v", whole, got.Len(), len(want), err)
				}
			}
		})
	}
	wg.Wait()
	pool.Close()
	if len(l.made) != int(pool.Stats().Misses) {
		t.Errorf("%d decoders were made in %d misses", len(l.made), pool.Stats().Misses)
	}
	for d := range l.made {
		if l.dropped[d] != 1 || !isClosed(d) {
			t.Errorf("a decoder was dropped %d times, closed: %v", l.dropped[d], isClosed(d))
		}
	}
}

func Example() {
	if err := run(1, 1); err != nil {
		panic(err)
	}
	// Output: 1 messages, 2700 bytes, by 1 decoders; 1 closed
}
