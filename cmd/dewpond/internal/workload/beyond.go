package workload

import (
	"errors"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Beyond is bursts of more than dewpond keeps idle where it knows no burst.
var Beyond = Scenario{
	Name: "beyond",
	About: "bursts of more than 64 MiB, the idle bound of a dewpond pool that has seen no burst: one goroutine gets many blocks, writes the beginning of each, as of a buffer that is larger than what arrives, and puts all back. " +
		"Bursts begin at equal intervals. Shows what all of them together allocate, the processor time that they take, the peak of resident memory, and how many blocks of the later bursts had to be allocated. " +
		"Between two bursts there can be GC cycles (--collections) and requests of a second size (--second-size), of which it shows the hits; a memory limit (--memory-limit) is that of each round. " +
		"Contenders clear only what they must. make allocates all blocks of each burst, and takes some 2 GB.",
	Defaults: Spec{
		Goroutines: 1,
		Mix:        Mix{{64 << 10, 100}},
		Duration:   1200 * time.Millisecond,
		Blocks:     20_000,
		Bursts:     6,
		Written:    1400,
	},
	QuickRounds: 1, // a round of make takes ten times as long
	Bursts:      true,
	Contenders:  []string{"nop", "make", "syncpool-class", "dewpond"},
	Drive:       runBeyond,
}

// Between two bursts there are secondBatches batches of the second size, of secondBatch blocks each, which
// are got and written and then put back.
const (
	secondBatch   = 512
	secondBatches = 20
)

func runBeyond(j *Job) error {
	b := &burster{Job: j, view: j.Pool.View(), size: j.Mix.largest(), written: int(j.Written), held: make([]contender.Block, j.Blocks)}
	second := &burster{Job: j, view: b.view, size: j.SecondSize, written: j.SecondSize, held: make([]contender.Block, secondBatch)}
	var later, secondGets, secondMisses float64
	err := j.Measured(func() error {
		began := kit.Now()
		for i := 1; i <= j.Bursts; i++ {
			if i == 2 { // whatever the pool, the first burst is of new blocks
				b.timePairs()
			}
			_, missed := b.counted()
			if i >= 2 {
				later += missed
			}
			if err := b.giveBack(); err != nil {
				return err
			}
			if i < j.Bursts {
				for range j.Collections {
					runtime.GC()
				}
				got, missed, err := second.batches()
				if err != nil {
					return err
				}
				secondGets, secondMisses = secondGets+got, secondMisses+missed
			}
			next := began + j.Duration*time.Duration(i)/time.Duration(j.Bursts)
			if j.Pause(max(0, next-kit.Now())) {
				break
			}
		}
		return nil
	})
	f := j.Result.Figures
	f["allocated_bytes"], f["later_misses"] = float64(j.Result.AllocBytes), later
	if secondGets > 0 {
		f["second_size_gets"], f["second_size_misses"], f["second_size_hit_share"] = secondGets, secondMisses, 1-secondMisses/secondGets
	}
	if j.Pairs { // all contenders do the same work, in times that differ
		f["collections"] = float64(j.Result.GCCycles)
	}
	if j.used > 0 {
		f["cpu_time_ns"] = float64(j.used)
	}
	return err
}

// batches are the requests of the second size between two bursts, if there are any. It returns how many
// blocks it got, and how many of them had to be allocated.
func (b *burster) batches() (gets, misses float64, err error) {
	if b.size == 0 {
		return 0, 0, nil
	}
	misses = b.counting(func() {
		for range secondBatches {
			b.hold()
			err = errors.Join(err, b.giveBack())
		}
	})
	return secondBatches * secondBatch, misses, err
}
