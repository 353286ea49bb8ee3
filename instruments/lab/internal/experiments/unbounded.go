package experiments

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// unbounded sends a burst of packets through a pool as VPNs have it: readers take a buffer for
// each packet, and a slower worker gives it back.
var unbounded = experiment.Experiment{
	ID:       "unbounded",
	Question: "What does a packet pool without a bound do in a burst, and what does a bound cost?",
	Claims: []experiment.Claim{{
		ID: "unbounded/growth", Text: "PreallocatedBuffersPerPool = 0 disables the bound “and allows for infinite memory growth”", Publication: wireguard, Judge: judgeUnboundedGrowth, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("no bound", ""): experiment.At("sync.Pool behind a bound", "")}},
	}, {
		ID: "unbounded/throughput", Text: "a bound costs no throughput, for the slowest worker sets the pace either way", Publication: ours, Judge: judgeUnboundedThroughput, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("dewpond with a Budget", "packets_per_sec"): experiment.At("dewpond with a Budget", "half_per_sec")}},
	}},
	Cases: []string{"no bound", "sync.Pool behind a bound", "dewpond with a Budget"},
	Each:  700 * time.Millisecond,
	Run:   runUnbounded,
	Plots: []experiment.Plot{
		{Figure: "rss_peak_bytes", Title: "Peak of resident memory", Note: "a burst of packets of 64 KiB; bounds are 64 packets"},
		{Figure: "collections", Title: "Collections during the burst"},
		{Figure: "packets_per_sec", Title: "Packets a second", Note: "more is better"},
	},
}

const (
	packetSize  = 64 << 10
	packetBound = 64
)

// packetPool returns the two ends of a pool, which is one of the cases of unbounded. get may wait.
func packetPool(ctx context.Context, kind string) (get func() []byte, put func([]byte), end func()) {
	if kind == "dewpond with a Budget" {
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Budget: dewpond.MustBudget("packets", packetBound*packetSize), Zero: dewpond.ZeroNever})
		return func() []byte {
			b, err := pool.GetContext(ctx, packetSize)
			if err != nil {
				return nil
			}
			return b
		}, pool.Put, func() { pool.Close() }
	}
	pool := &sync.Pool{New: func() any { return new([packetSize]byte) }}
	take := func() []byte { return pool.Get().(*[packetSize]byte)[:] }
	giveBack := func(b []byte) { pool.Put((*[packetSize]byte)(b)) }
	if kind == "no bound" {
		return take, giveBack, func() {}
	}
	places := make(chan struct{}, packetBound)
	return func() []byte { places <- struct{}{}; return take() }, func(b []byte) { giveBack(b); <-places }, func() {}
}

func runUnbounded(r *experiment.Run) error {
	get, put, end := packetPool(r.Context, r.Case)
	defer end()
	packets := max(r.Count(6000), 20)
	queue := make(chan []byte, packets)
	before, began := kit.Collections(), kit.Now()
	var left atomic.Int64
	left.Store(int64(packets))
	var readers, workers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for left.Add(-1) >= 0 {
				b := get()
				if b == nil {
					return
				}
				for at := 0; at < len(b); at += 4096 { // the packet arrives
					b[at] = 1
				}
				queue <- b
			}
		})
	}
	sum := 0
	workers.Go(func() {
		for b := range queue {
			for range 2 { // slower than the readers
				for _, c := range b {
					sum += int(c)
				}
			}
			put(b)
		}
	})
	readers.Wait()
	close(queue)
	workers.Wait()
	r.Set("packets_per_sec", float64(packets)/(kit.Now()-began).Seconds())
	r.Set("half_per_sec", r.Get("packets_per_sec")/2) // what a bound would leave that halves it
	r.Set("collections", float64(kit.Collections()-before))
	r.Set("rss_peak_bytes", float64(kit.PeakRSS()))
	if sum == 0 {
		return fmt.Errorf("the packets were empty")
	}
	return nil
}

func judgeUnboundedGrowth(m experiment.Measured) experiment.Finding {
	without, with := experiment.At("no bound", "rss_peak_bytes"), experiment.At("sync.Pool behind a bound", "rss_peak_bytes")
	if f, lacking := m.Lacking(without, with); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s resident without a bound", m.Text(without)),
		Control:  fmt.Sprintf("%s behind a bound of %d packets, %s with a Budget of dewpond", m.Text(with), packetBound, m.Text(experiment.At("dewpond with a Budget", "rss_peak_bytes"))),
		Do:       "Bound what is in flight, in bytes, and let the reader wait: memory then does not follow the burst.",
	}
	f.Verdict, f.Why = experiment.Direction(m.Ratio(without, with), true) // how much depends on the burst alone
	return f
}

func judgeUnboundedThroughput(m experiment.Measured) experiment.Finding {
	without, with := experiment.At("no bound", "packets_per_sec"), experiment.At("dewpond with a Budget", "packets_per_sec")
	if f, lacking := m.Lacking(without, with); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s packets a second with a Budget", m.Text(with)),
		Control:  fmt.Sprintf("%s without a bound, %s behind a semaphore", m.Text(without), m.Text(experiment.At("sync.Pool behind a bound", "packets_per_sec"))),
		Do:       "Do not fear the bound: memory that is used again is warm, and new memory must be cleared and faulted in.",
	}
	ratio := m.Ratio(with, without)
	f.Verdict, f.Why = experiment.Equal(ratio, 0.15)
	if f.Verdict != experiment.Reproduced && ratio.Rounds > 0 && ratio.Low > 1/1.15 {
		f.Verdict, f.Why = experiment.Reproduced, f.Why+": it is faster, if anything"
	}
	return f
}
