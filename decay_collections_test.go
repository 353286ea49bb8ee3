package dewpond_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/pressure"
)

// A block or object that its owner loses is collected by the third collection after, though
// the pool is not used any more and never decays.
func TestLostBlocksAreCollected(t *testing.T) {
	notWatched(t, "it loses blocks and objects")
	const count = 100
	for _, timeout := range []time.Duration{-1, 0} {
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: timeout})
		q := dewpond.MustPool(dewpond.PoolOptions[[1 << 10]byte]{IdleTimeout: timeout})
		var blocks []weak.Pointer[byte]
		var objects []weak.Pointer[[1 << 10]byte]
		lose := func() {
			var out [][]byte
			var made []*[1 << 10]byte
			for range 2 { // those of the second time come from the pool
				for range count {
					out, made = append(out, p.Get(1000)), append(made, q.Get())
				}
				for i := range out {
					p.Put(out[i])
					q.Put(made[i])
				}
				out, made = out[:0], made[:0]
			}
			for range count {
				if b := p.Get(1000); !offHeap { // there the collector has none
					blocks = append(blocks, weak.Make(&b[0]))
				}
				objects = append(objects, weak.Make(q.Get()))
			}
		}
		lose()
		for range 2 {
			runtime.GC()
			dewpond.AfterCollection() // which comes by itself, some time after
		}
		runtime.GC()
		alive := [2]int{}
		for _, b := range blocks {
			if b.Value() != nil {
				alive[0]++
			}
		}
		for _, v := range objects {
			if v.Value() != nil {
				alive[1]++
			}
		}
		if alive != [2]int{} {
			t.Errorf("IdleTimeout %v: of %d lost blocks and as many objects %v are alive", timeout, count, alive)
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(q)
	}
}

// What the last test calls is called after every collection.
func TestCollectionsAreHeardOf(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay})
	for range 3 {
		for before := dewpond.Collections(); dewpond.Collections() == before; { // else the test runs into its timeout
			runtime.GC()
			runtime.Gosched()
		}
	}
	runtime.KeepAlive(p)
}

// Magazines that are not needed go with what was in them. Of a limited pool each idle object
// costs little more than itself.
func TestEmptyMagazinesDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, timeout = 20_000, time.Second
		p := dewpond.MustPool(dewpond.PoolOptions[int64]{Limit: count, MaxIdle: count, IdleTimeout: timeout})
		defer p.Close()
		before := p.Stats().OverheadBytes
		out := make([]*int64, count)
		for i := range out {
			out[i] = p.Get()
		}
		for _, v := range out {
			p.Put(v)
		}
		s := p.Stats()
		if per := (s.OverheadBytes - before) / count; s.IdleBytes != 8*count || per > 48 {
			t.Errorf("%d bytes are idle, and each object costs %d more", s.IdleBytes, per)
		}
		time.Sleep(3 * timeout)
		s = p.Stats()
		const table = 2 * 8 * count // an address for each magazine there was
		if s.IdleBytes != 0 || s.OverheadBytes-before > table {
			t.Errorf("%d bytes are idle and %d overhead after decay, %d before", s.IdleBytes, s.OverheadBytes, before)
		}
	})
}

// High pressure finds them too.
func TestEmptyMagazinesUnderPressure(t *testing.T) {
	leavesOut(t, "blocks that keep the pool from being empty")
	defer dewpond.SetLevel(pressure.Low)
	synctest.Test(t, func(t *testing.T) {
		const count = 100
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{256 << 10}, MaxIdleBytes: 1 << 30, IdleTimeout: time.Hour})
		p.Put(p.Get(256 << 10)) // the first use takes more
		before := p.Stats().OverheadBytes
		hold(p, 256<<10, count)
		out := make([][]byte, count-1) // one stays idle, or the timer would take all
		for i := range out {
			out[i] = p.Get(256 << 10)
		}
		dewpond.SetLevel(pressure.High)
		time.Sleep(time.Hour)
		if s := p.Stats(); s.OverheadBytes-before > 2*8*count {
			t.Errorf("%d bytes of overhead after pressure, %d before", s.OverheadBytes, before)
		}
		runtime.KeepAlive(out)
	})
}
