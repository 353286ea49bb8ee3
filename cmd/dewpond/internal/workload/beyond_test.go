package workload

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// TestBeyond knows how much must be allocated: by nop what a burst takes, by make that in each burst,
// and by channel, which has room for a burst and not for 1024 blocks alone, what a burst takes.
func TestBeyond(t *testing.T) {
	const size, blocks, bursts = 64 << 10, 1100, 4
	for name, later := range map[string]int{"nop": 0, "make": blocks, "channel": 0} {
		sp := spec(Beyond, name)
		sp.Blocks, sp.Bursts, sp.Duration = blocks, bursts, 200*time.Millisecond
		r := round(t, sp)
		if r.Ops != bursts*blocks || r.Verified != r.Ops {
			t.Errorf("%s: %d blocks and %d of them verified, want %d", name, r.Ops, r.Verified, bursts*blocks)
		}
		misses := (bursts - 1) * later
		if got := r.Figures["later_misses"]; got != float64(misses) {
			t.Errorf("%s: %v blocks of the later bursts are allocated, want %d", name, got, misses)
		}
		const others = 8 << 20 // at most so much is the driver's and the runtime's
		if got, want := r.Figures["allocated_bytes"], float64((blocks+misses)*size); got < want || got > want+others {
			t.Errorf("%s: %v bytes are allocated, want %v", name, got, want)
		}
		if runtime.GOOS == "linux" && r.Figures["cpu_time_ns"] <= 0 {
			t.Errorf("%s: processor time is %v", name, r.Figures["cpu_time_ns"])
		}
		if r.Seconds < sp.Duration.Seconds() {
			t.Errorf("%s: the bursts took %v s, want %v and more", name, r.Seconds, sp.Duration)
		}
	}
}

// Between two bursts there are 10,240 requests of the second size, whatever the pool: make allocates each, and
// nop and channel the first 512.
func TestBeyondSecondSize(t *testing.T) {
	const blocks, bursts, gets = 100, 3, 2 * 10_240
	for name, first := range map[string]float64{"make": gets, "nop": 512, "channel": 512} {
		sp := spec(Beyond, name)
		sp.Blocks, sp.Bursts, sp.SecondSize = blocks, bursts, 16<<10
		r := round(t, sp)
		if r.Ops != bursts*blocks+gets || r.Verified != r.Ops || r.Figures["second_size_gets"] != gets {
			t.Errorf("%s: %d blocks, %d of them verified and %v of the second size, want %d and %d", name, r.Ops, r.Verified, r.Figures["second_size_gets"], bursts*blocks+gets, gets)
		}
		const others = 64 // at most as many blocks' bytes are the driver's and the runtime's
		misses := r.Figures["second_size_misses"]
		if misses < first || misses > first+others {
			t.Errorf("%s: %v blocks of the second size are allocated, want %v", name, misses, first)
		}
		if got, want := r.Figures["second_size_hit_share"], 1-misses/gets; got != want {
			t.Errorf("%s: %v of the Gets of the second size are hits, want %v", name, got, want)
		}
	}
	if r := round(t, spec(Beyond, "nop")); r.Figures["second_size_gets"] != 0 {
		t.Errorf("without a second size %v blocks of one are got", r.Figures["second_size_gets"])
	}
	bpool, err := contender.Find([]string{"bpool"})
	if err != nil {
		t.Fatal(err)
	}
	sp := Beyond.Defaults
	if why := Beyond.Excludes(bpool[0], sp); why != "" {
		t.Errorf("bpool cannot take part in bursts of one size: %s", why)
	}
	sp.SecondSize = 16 << 10
	if Beyond.Excludes(bpool[0], sp) == "" {
		t.Error("bpool takes part although there are two sizes")
	}
}

// As many GC cycles as the spec says run between two bursts.
func TestBeyondCollections(t *testing.T) {
	sp := spec(Beyond, "nop")
	sp.Blocks, sp.Bursts, sp.Collections = 10, 4, 5
	before := kit.Collections()
	round(t, sp)
	if got := kit.Collections() - before; got < 3*5 {
		t.Errorf("%d GC cycles in 3 gaps, want 5 in each", got)
	}
}

// Only what is written of a block becomes resident.
func TestBeyondWrites(t *testing.T) {
	p := contender.All()[1].New(contender.Options{}) // make
	b := &burster{Job: &Job{Pool: p}, view: p.View(), size: 4 * page, written: page + 1, held: make([]contender.Block, 2)}
	b.hold()
	for at, want := range []byte{1, 1, 0, 0} {
		if got := b.held[1].Bytes[at*page]; got != want {
			t.Errorf("page %d holds %d, want %d", at, got, want)
		}
	}
}

// A pool that gives one block to all is found out.
func TestBeyondTwoOwners(t *testing.T) {
	sp := spec(Beyond, "nop")
	sp.Mix = Mix{{8192, 100}}
	err := runBeyond(NewJob(context.Background(), sp, func(contender.Options) contender.Pool { return &broken{} }))
	if err == nil || !strings.Contains(err.Error(), "two owners") {
		t.Errorf("a pool that gives one block to all passes: %v", err)
	}
}

// A contender that is bounded in blocks has room for a burst, in each scenario that has bursts: with 1024
// places for each size it would allocate most blocks of each burst, and so it allocates those of one.
func TestRoomForBursts(t *testing.T) {
	const size, blocks = 4096, 4000
	for _, s := range []Scenario{Burst, Beyond, Churn} {
		sp := spec(s, "channel")
		sp.Mix, sp.Blocks, sp.Bursts = Mix{{size, 100}}, blocks, 4
		sp.Written = min(sp.Written, size)
		sp.Garbage, sp.Live, sp.Rate = 0, 0, 1000
		sp.Duration, sp.Every = 200*time.Millisecond, 40*time.Millisecond
		r := round(t, sp)
		if r.AllocBytes > blocks*size*3/2 || r.Figures["second_burst_misses"] > blocks/8 {
			t.Errorf("%s: %d bytes and %v blocks of a second burst are allocated in %d operations, want about the bytes of one burst, %d, and none",
				s.Name, r.AllocBytes, r.Figures["second_burst_misses"], r.Ops, blocks*size)
		}
	}
}
