package workload

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// TestBeyond knows how much must be allocated: by nop what a burst takes, by make that in each burst,
// and by channel, which keeps 1024 of these blocks, the rest in each.
func TestBeyond(t *testing.T) {
	const size, blocks, bursts = 64 << 10, 1100, 4
	for name, later := range map[string]int{"nop": 0, "make": blocks, "channel": blocks - 1024} {
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
