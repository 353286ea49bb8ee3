package dewpond_test

import (
	"runtime/pprof"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// Where checked mode meets what it did not make, and what does not return.

// A pool on the heap takes any slice whose cap is a class, also one that is not the
// collector's, which then has no leak to tell of.
func TestSampledTakesOthersMemory(t *testing.T) {
	onlyOnHeap(t, "a pool off it takes none")
	t.Setenv("DEWPOND_CHECK", "sampled=1/1")
	other := must(offheap.Options{Reserve: 1 << 20}.NewBytePool(dewpond.BytePoolOptions{Name: "other", Classes: []int{64 << 10}}))
	p := newPool(t, dewpond.BytePoolOptions{OnViolation: func(v dewpond.Violation) { t.Error(v) }})
	b := other.Get(64 << 10)
	p.Put(b)
	if got := p.Get(64 << 10); &got[0] != &b[0] {
		t.Error("another block: this shows nothing")
	}
	p.Put(b)
	for range 300 { // in every shard of the checks
		p.Put(p.Get(64))
	}
	p.Close()
	other.Put(b)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// What is put back after Close is in no profile any more, nor what never is.
func TestClosedPoolIsNotInProfile(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/1")
	before := 0
	if profile := pprof.Lookup("dewpond_inuse"); profile != nil {
		before = profile.Count()
	}
	p := must(makePool(dewpond.BytePoolOptions{Name: t.Name(), OnViolation: func(dewpond.Violation) {}}))
	made(t)
	var all [][]byte
	for range 100 {
		all = append(all, p.Get(1000))
	}
	during := pprof.Lookup("dewpond_inuse").Count()
	p.Close()
	for _, b := range all {
		p.Put(b)
	}
	if n := pprof.Lookup("dewpond_inuse").Count(); n > before || during <= before {
		t.Errorf("%d are in the profile; %d while they were out, %d before", n, during, before)
	}
}

// A Drop that panics leaves the counts as they must be, whichever call it was.
func TestCheckedDropPanics(t *testing.T) {
	for _, maxIdle := range []int{dewpond.NoIdle, 100} {
		p := newObjects(t, dewpond.PoolOptions[account]{
			Check: dewpond.CheckAll, MaxIdle: maxIdle, IdleTimeout: dewpond.NoDecay, Drop: func(*account) { panic("Drop") },
			OnViolation: func(v dewpond.Violation) { t.Error(v) },
		})
		all := make([]*account, 5)
		for i := range all {
			all[i] = p.Get()
		}
		text := ""
		for _, v := range all {
			text += panics(func() { p.Put(v) })
		}
		text += panics(func() { p.Trim() })
		if s := p.Stats(); s.IdleBytes != 0 || s.Puts != 5 || s.InUseBytes != 0 {
			t.Errorf("MaxIdle %d: %+v", maxIdle, s)
		}
		if text == "" {
			t.Error("nothing panicked: this shows nothing")
		}
	}
}

// A Source whose Free panics leaves nothing that counts as idle and is not.
func TestCheckedFreePanics(t *testing.T) {
	source := &panicsInFree{fakeSource: newFakeSource()}
	p := newPool(t, dewpond.BytePoolOptions{Memory: source, Check: dewpond.CheckAll, MaxIdleBytes: 8192, IdleTimeout: dewpond.NoDecay, Classes: []int{1024}})
	var all [][]byte
	for range 40 {
		all = append(all, p.Get(1000))
	}
	source.on = true
	n := 0
	for _, b := range all {
		if panics(func() { p.Put(b) }) != "" {
			n++
		}
	}
	if s := p.Stats(); s.IdleBytes > 8192 || n == 0 {
		t.Errorf("%d Puts panicked, %d bytes are idle", n, s.IdleBytes)
	}
	source.on = false
}
