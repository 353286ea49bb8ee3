package contender

import (
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var dewpondContender = Contender{
	Name:  "dewpond",
	Hue:   palette.Blue,
	About: "dewpond.BytePool with its default options, except the zeroing policy, and what some scenarios ask for: IdleTimeout, Budget, Check",
	New:   func(o Options) Pool { return dewpondPool{dewpond.MustBytePool(byteOptions(o))} },
	Tools: tool.Cases,

	MostIdle: mostIdle,
}

var dewpondNoDecay = Contender{
	Name:    "dewpond-nodecay",
	Hue:     palette.Indigo,
	About:   "dewpond that never frees idle blocks: IdleTimeout -1",
	Variant: true,
	New: func(o Options) Pool {
		o.IdleTimeout = dewpond.NoDecay
		return dewpondPool{dewpond.MustBytePool(byteOptions(o))}
	},

	MostIdle: mostIdle,
}

var dewpondOffHeap = Contender{
	Name: "dewpond-offheap",
	Hue:  palette.Teal,
	About: "dewpond on memory outside the Go heap (package offheap), with dewpond's options and classes: mapped memory on Linux; pieces of the Go heap elsewhere and under the race " +
		"detector",
	Variant: true,
	New:     newOffHeap,

	MostIdle: mostIdle,
}

var dewpondSampled = Contender{
	Name:    "dewpond-sampled",
	Hue:     palette.Sky,
	About:   "dewpond that watches one Get in 1024, as it may in production: CheckSampled",
	Variant: true,
	New: func(o Options) Pool {
		o.Check = dewpond.CheckSampled
		return dewpondPool{dewpond.MustBytePool(byteOptions(o))}
	},

	MostIdle: mostIdle,
}

// mostIdle is the default of MaxIdleBytes in blocks.
func mostIdle(size int) int { return 64 << 20 / size }

func byteOptions(o Options) dewpond.BytePoolOptions {
	b := dewpond.BytePoolOptions{
		Name: "bench", Zero: dewpond.ZeroNever, IdleTimeout: o.IdleTimeout, Budget: o.Budget,
		Check: o.Check, OnViolation: o.OnViolation,
	}
	if o.Clearing || o.ZeroDefault {
		b.Zero = dewpond.ZeroOnPut
	}
	return b
}

// newOffHeap uses the same classes as on the heap: the only difference is where blocks lie.
func newOffHeap(o Options) Pool {
	b := byteOptions(o)
	b.Classes = sizes
	pool, err := offheap.NewBytePool(b)
	if err != nil {
		panic(err) // as MustBytePool does: the options are this package's
	}
	return dewpondPool{pool}
}

type dewpondPool struct{ pool *dewpond.BytePool }

func (p dewpondPool) View() View { return p }

func (p dewpondPool) Get(n int) Block { return Block{Bytes: p.pool.Get(n)} }
func (p dewpondPool) Put(b Block)     { p.pool.Put(b.Bytes) }

func (p dewpondPool) Loop(n, count int) {
	for range count {
		b := p.pool.Get(n)
		touch(b)
		p.pool.Put(b)
	}
}

func (p dewpondPool) IdleBytes() int64 { return p.pool.Stats().IdleBytes }
func (p dewpondPool) Misses() uint64   { return p.pool.Stats().Misses }
func (p dewpondPool) Engine() string   { return p.pool.Stats().Engine }

func (p dewpondPool) TryGet(n int) (Block, bool) {
	b, err := p.pool.TryGet(n)
	return Block{Bytes: b}, err == nil
}

func (p dewpondPool) Trim() int64  { return p.pool.Trim() }
func (p dewpondPool) Close() error { return p.pool.Close() }

func (p dewpondPool) Held() (idle, inUse, reserved int64) {
	s := p.pool.Stats()
	return s.IdleBytes, s.InUseBytes, s.OffHeap.Reserved
}
