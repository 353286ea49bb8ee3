package workload

import (
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Beyond is bursts of more than dewpond keeps idle where it knows no burst.
var Beyond = Scenario{
	Name: "beyond",
	About: "bursts of more than 64 MiB, the idle bound of a dewpond pool that has seen no burst: one goroutine gets many blocks, writes the beginning of each, as of a buffer that is larger than what arrives, and puts all back. " +
		"Bursts begin at equal intervals. Shows what all of them together allocate, the processor time that they take, the peak of resident memory, and how many blocks of the later bursts had to be allocated. " +
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
	Contenders:  []string{"nop", "make", "syncpool-class", "dewpond"},
	Drive:       runBeyond,
}

func runBeyond(j *Job) error {
	b := &burster{Job: j, view: j.Pool.View(), size: j.Mix.largest(), written: int(j.Written), held: make([]contender.Block, j.Blocks)}
	var later float64
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
			next := began + j.Duration*time.Duration(i)/time.Duration(j.Bursts)
			if j.Pause(max(0, next-kit.Now())) {
				break
			}
		}
		return nil
	})
	f := j.Result.Figures
	f["allocated_bytes"], f["later_misses"] = float64(j.Result.AllocBytes), later
	if j.Pairs { // all contenders do the same work, in times that differ
		f["collections"] = float64(j.Result.GCCycles)
	}
	if j.used > 0 {
		f["cpu_time_ns"] = float64(j.used)
	}
	return err
}
