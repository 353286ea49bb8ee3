package magazine

import (
	"runtime"
	"testing"
)

// Gather leaves nothing in shards and transfer caches, no place either, and loses no block. One grace period serves
// all engines.
func TestGather(t *testing.T) {
	graces := 0
	defer func(before func()) { gracePeriod = before }(gracePeriod)
	gracePeriod = func() { graces++; runtime.Gosched() }
	var engines []*Engine
	for range 3 {
		e := new(Engine)
		e.Init(Config{Sizes: []int{1024, 2048}, MaxIdleBytes: 64 << 20})
		e.grow()
		for range 500 {
			pushAt(e, 0, 0, block())
		}
		pushAt(e, 0, 1, block())
		if !e.Spread() {
			t.Fatal("nothing lies in a shard: this shows nothing")
		}
		engines = append(engines, e)
	}
	graces = 0
	Gather(engines)
	if graces > 1 {
		t.Errorf("%d grace periods", graces)
	}
	for _, e := range engines {
		if first, second := e.depots.At(0).blocks.Load(), e.depots.At(1).blocks.Load(); first != 500 || second != 1 || e.Spread() {
			t.Errorf("the depots have %d of 500 and %d of 1 blocks; some lie in shards: %v", first, second, e.Spread())
		}
		check(t, e)
	}
	before := graces
	if Gather(engines); graces != before {
		t.Error("nothing is to be gathered, and it costs a grace period")
	}
}

// A shard that needs one block takes one after Gather, and twice as many if it needs more.
func TestGatherShowsWhatIsNeeded(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := new(Engine)
	e.Init(Config{Sizes: []int{1024}, MaxIdleBytes: 64 << 20})
	e.grow()
	for _, need := range []int{1, 2, 5, 20} {
		for range 128 {
			pushAt(e, 0, 0, block())
		}
		Gather([]*Engine{e})
		e.Low(0)
		before := e.Least(0)
		for range 100 {
			for range need {
				popAt(e, 0, 0)
			}
			for range need {
				pushAt(e, 0, 0, block())
			}
		}
		if taken := before - e.Least(0); taken < need || taken > 2*need+2 {
			t.Errorf("of %d blocks %d were taken for a need of %d", before, taken, need)
		}
	}
}
