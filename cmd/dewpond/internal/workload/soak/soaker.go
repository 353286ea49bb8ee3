package soak

import (
	"container/heap"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit"
)

var (
	// sizes: half of the blocks are below 202 bytes, one in 79 is above 64 KiB.
	sizes = pareto{64, contender.Largest, 0.6}
	// lifetimes: half are over after 4 microseconds, one in 2000 takes a second.
	lifetimes = pareto{float64(time.Microsecond), float64(4 * time.Second), 0.5}
)

const (
	// handOver says how many blocks another goroutine puts back: one in that many.
	handOver = 8
	// beat is how often a soaker wakes up for what is due.
	beat = time.Millisecond
	// inboxes is how many blocks may be on their way to a goroutine.
	inboxes = 64
)

// A soaker is one goroutine of soak. It gets blocks at a steady pace, and keeps each for a
// different time.
type soaker struct {
	*soaking
	number int
	random *rand.Rand
	places [standingPools + passingPools]struct {
		entry *entry
		view  contender.View
	}
	held  loans
	inbox chan *loan // from the previous soaker

	ops, verified, refused uint64
	out                    atomic.Int64 // bytes that are held, or sent and not yet taken
	_                      [64]byte
}

// A loan is a block that is out.
type loan struct {
	workload.Marked
	entry *entry
	view  contender.View // nil if the block comes from another goroutine
	due   time.Duration
}

func newSoaker(s *soaking, number int) *soaker {
	return &soaker{
		soaking: s, number: number, inbox: make(chan *loan, inboxes),
		random: rand.New(rand.NewPCG(uint64(number), uint64(s.Round))), // the same sequence for each contender of a round
	}
}

// run gets and puts blocks until the round is over. After a stall it catches up.
func (k *soaker) run() {
	pace := k.Rate / float64(k.Goroutines) / float64(time.Second)
	began := kit.Now()
	for !k.stop.Load() {
		due := uint64(pace * float64(kit.Now()-began))
		for k.ops < due && !k.stop.Load() {
			k.putDue()
			k.get()
			k.ops++
		}
		k.putDue()
		time.Sleep(beat)
	}
}

func (k *soaker) get() {
	size := int(sizes.draw(k.random))
	place := k.random.IntN(len(k.places))
	p := k.acquire(place)
	at := &k.places[place]
	if at.entry != p {
		at.entry, at.view = p, p.pool.View()
	}
	l := &loan{entry: p, view: at.view}
	if p.budgeted && p.keeper != nil {
		b, ok := p.keeper.TryGet(size)
		if !ok { // over budget, or just closed
			p.out.Add(-1)
			k.refused++
			return
		}
		l.Block = b
	} else {
		l.Block = at.view.Get(size)
	}
	l.Mark = uint64(k.number)<<40 | k.ops + 1
	l.Write()
	l.due = kit.Now() + time.Duration(lifetimes.draw(k.random))
	k.out.Add(int64(cap(l.Bytes)))
	if k.random.IntN(handOver) == 0 {
		next := k.soakers[(k.number+1)%len(k.soakers)]
		l.view = nil // a view belongs to one goroutine
		select {
		case next.inbox <- l:
			k.out.Add(-int64(cap(l.Bytes)))
			next.out.Add(int64(cap(l.Bytes)))
			return
		default:
		}
	}
	heap.Push(&k.held, l)
}

// putDue puts back the blocks whose time is over.
func (k *soaker) putDue() {
	k.takeIn()
	for now := kit.Now(); len(k.held) > 0 && k.held[0].due <= now; {
		k.put(heap.Pop(&k.held).(*loan))
	}
}

// takeIn takes the blocks that other soakers have sent.
func (k *soaker) takeIn() {
	for {
		select {
		case l := <-k.inbox:
			heap.Push(&k.held, l)
		default:
			return
		}
	}
}

func (k *soaker) put(l *loan) {
	if err := l.Verify(); err != nil {
		k.fail(err)
	}
	k.verified++
	if l.view == nil {
		l.view = l.entry.pool.View()
	}
	k.out.Add(-int64(cap(l.Bytes)))
	l.view.Put(l.Block)
	l.entry.out.Add(-1)
}

// putBack puts everything back, after all goroutines have ended.
func (k *soaker) putBack() {
	k.takeIn()
	for _, l := range k.held {
		k.put(l)
	}
	k.held = nil
}

// loans is a heap of blocks that are out; the one that is due first is on top.
type loans []*loan

func (l loans) Len() int           { return len(l) }
func (l loans) Less(i, j int) bool { return l[i].due < l[j].due }
func (l loans) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *loans) Push(x any)        { *l = append(*l, x.(*loan)) }
func (l *loans) Pop() any {
	old := *l
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*l = old[:len(old)-1]
	return last
}
