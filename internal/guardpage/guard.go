// Package guardpage finds blocks that are used after their Put, reads too, in a program that goes
// on. Now and then a caller of a pool gets a block of whole pages in the place of the pool's own.
// When it is put back its pages are given back to the system, and the block is kept for a while
// in a queue. Whoever touches it then, in Go, in assembly or by a system call, makes a page
// resident, and mincore says so. Nothing faults, and a late reader reads zeros.
//
// The blocks are on the Go heap, so that the collector frees those that their owners lose. Where the kernel
// makes huge pages unasked they are parts of a region: see region.go.
//
// It rests on what the kernel does with pages, so it proves that first, see [Guard.proven], and
// looks for what else touches pages: see [system].
//
// Or, if that is asked for, the pages have no access while the block is in the queue. Then whoever
// touches one faults, and a system call returns EFAULT. Nothing needs to be proven, but the memory is the
// Go heap's, so the access must be back before the block may be collected: see [Guard.drop]. Until
// then the runtime does not touch it: the collector does not look into what has no pointers, and it
// is not swept or cleared while the queue has it. What writes all of the heap to a file, as
// debug.WriteHeapDump does, does that by system calls, which fail.
package guardpage

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/callers"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/misuse"
)

const (
	// MaxSize is the size of the largest block that is guarded, in bytes: what is touched anew
	// after its pages were given back costs a fault for each page.
	MaxSize = 64 << 10

	// Blocks that wait in the queue, and blocks that are out, each are at most so many, of so many
	// bytes together. A block waits for as long as queueTime if there is room.
	maxBlocks = 256
	maxBytes  = 4 << 20
	queueTime = time.Minute

	// What waits is live to the collector, which lets garbage grow with that (GOGC). So it is at most this
	// part of the live heap, or fewBytes, which the smallest heap has room for anyway. But fewBlocks
	// always may wait, three seconds at the default rate, for a use that comes late to be seen.
	liveParts = 64
	fewBytes  = 256 << 10
	fewBlocks = 32

	sweepTime = time.Second
)

// A guarded block begins at a multiple of Marked in a page and not at a multiple of twice that,
// where no other block of the pool begins: by the test of its alignment, which Put makes anyway,
// it goes the slow way. In a pool whose blocks begin at multiples of 64 it is Wide that marks, so that
// these do too.
const (
	Marked = 16
	Wide   = 64
)

// IsMarked reports whether a guarded block may begin at an address that Marked marks. False is certain.
func IsMarked(at uintptr) bool { return at&(2*Marked-1) == Marked }

// An Owner is the pool whose callers get guarded blocks.
type Owner interface {
	Name() string
	Report(misuse.Violation) // is called without locks
}

// A Guard has the guarded blocks of a process. All its methods are safe for concurrent use.
type Guard struct {
	Turns // says which Get is to be sampled

	sys     system
	setting Setting

	sweeping  sync.Mutex // held by Sweep, reports included; before mu
	mu        sync.Mutex // held for a few system calls, but not while files are read
	off       string     // why nothing is guarded for good; "" while something is
	paused    string     // why nothing is guarded now
	asked     time.Time  // when the system was last asked for that
	questions uint64     // how often it was
	answered  uint64     // which of the questions paused and unasked answer; 0: none yet
	unasked   bool       // the kernel makes huge pages unasked
	region    *region    // nil until that was so
	proof     *proof     // nil before the first sample
	records   map[uintptr]*record
	out       amount
	idle      amount
	mostIdle  int       // see mayWait; of the live heap when it was last asked for
	queue     []*record // the idle ones, the oldest first
	shut      [][]byte  // pages that the system will not give access to again: nobody must get them
	found     findings  // which the next sweep reports
	sweeps    bool      // a timer is armed
	tell      func(n News, why string)
	told      [kinds]bool

	known atomic.Int64 // len(records), for those who hold no lock
	rate  rate
}

type amount struct{ blocks, bytes int }

func (a *amount) add(blocks, bytes int) { a.blocks, a.bytes = a.blocks+blocks, a.bytes+blocks*bytes }

func (a amount) full(bytes, most int) bool { return a.blocks >= maxBlocks || a.bytes+bytes > most }

// A record is what is known of a guarded block.
type record struct {
	at      uintptr // where the block begins
	size    int     // its cap
	bytes   int     // of its pages
	owner   Owner
	instead []byte             // the pool's own block, whose place it takes while it is out
	carries bool               // when it is put back, instead gets what is in it
	cut     bool               // of the region
	mark    int                // bytes of its pages before it
	block   weak.Pointer[byte] // where the block begins, while it is out
	pages   []byte             // while it is idle
	put     time.Time
	got     stack
	putBy   stack
}

// isIdle reports whether the block is in the queue.
func (r *record) isIdle() bool { return r.pages != nil }

// isLost reports whether the owner of a block has lost it, so that its memory may be another's. ForgetLost may
// be late.
func (r *record) isLost() bool { return !r.isIdle() && r.block.Value() == nil }

// find returns the record of the block that begins at an address, or nil.
func (g *Guard) find(at uintptr) *record {
	r := g.records[at]
	if r != nil && r.isLost() {
		g.forget(r)
		return nil
	}
	return r
}

// A stack is program counters.
type stack struct {
	n   int
	pcs [24]uintptr
}

func (s *stack) record() { s.n = callers.Callers(s.pcs[:]) }

func (s *stack) all() check.Stack { return append(check.Stack(nil), s.pcs[:s.n]...) }

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Get returns a guarded block that takes the place of a block of a pool, with its length and cap,
// all zero. It returns nil if none can be had now.
func (g *Guard) Get(instead []byte, owner Owner) []byte { return g.GetFor(0, instead, owner) }

// A Need is what a pool needs of its guarded blocks, beyond what Get says.
type Need uint8

const (
	Contents  Need = 1 << iota // each has what the pool's own has, up to its cap; Put copies back what it then has
	Collected                  // what its caller loses is collected
	Aligned                    // each is marked by Wide
)

// GetFor is Get for a pool with needs.
func (g *Guard) GetFor(need Need, instead []byte, owner Owner) []byte {
	size := cap(instead)
	if size > MaxSize || size == 0 {
		return nil
	}
	mark := Marked
	if need&Aligned != 0 {
		mark = Wide
	}
	n := bytesFor(mark, size, g.sys.pageSize)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.askInTime()
	if !g.ready() || g.out.full(n, g.most()) || need&Collected != 0 && g.unasked {
		return nil
	}
	pages := g.pagesFor(n)
	if pages == nil {
		return nil
	}
	block := pages[mark : mark+len(instead) : mark+size]
	r := &record{at: addressOf(block), size: size, bytes: n, owner: owner, instead: instead, carries: need&Contents != 0, cut: g.unasked, mark: mark, block: weak.Make(unsafe.SliceData(block))}
	if r.carries {
		copy(block[:size], instead[:size])
	}
	r.got.record()
	if old := g.records[r.at]; old != nil { // lost, and ForgetLost has not been called yet
		g.forget(old)
	}
	g.records[r.at] = r
	g.known.Add(1)
	g.out.add(1, n)
	g.rate.count(time.Now())
	tallySample()
	g.news(Works, "")
	return block
}

// ForgetLost forgets the blocks that a garbage collection has found lost, and reports whether any are in use
// still. The pool's own are then lost too. It is called after each collection: a cleanup of each block may get
// lost, see atomics.AfterCollection.
func (g *Guard) ForgetLost() (out bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.records {
		if r.isLost() {
			g.forget(r)
		}
	}
	return g.out.blocks > 0
}

// forget ends the watch of a block that is out.
func (g *Guard) forget(r *record) {
	g.end(r)
	g.out.add(-1, r.bytes)
}

// end ends the watch of a block that its caller counts neither as out nor as idle.
func (g *Guard) end(r *record) {
	delete(g.records, r.at)
	g.known.Add(-1)
	if r.cut {
		g.region.free(r.at-uintptr(r.mark), r.bytes)
	}
}

// A Verdict is what Put found.
type Verdict uint8

const (
	Unknown  Verdict = iota // no guarded block begins there, nor is it inside one
	Accepted                // it was out, and is idle now
	Double                  // it was idle
	Foreign                 // it is inside one, or another pool's, or its cap was cut
)

// Put takes back the guarded block that begins at an address, and returns the pool's own that it
// has stood for, which takes its place in what is left of the caller's Put. anyCap allows that its
// cap was cut. If the Put is a misuse, the caller reports that once it has counted it.
func (g *Guard) Put(b []byte, anyCap bool, owner Owner) (instead []byte, v Verdict, found *misuse.Violation) {
	if g.known.Load() == 0 {
		return nil, Unknown, nil
	}
	inBubble := bubble.Inside()
	g.mu.Lock()
	if !inBubble {
		g.askInTime() // while nothing is known of b that another's Put might change meanwhile
	}
	r := g.find(addressOf(b))
	switch {
	case r == nil:
		g.mu.Unlock()
		if found = g.Inside(b); found != nil {
			return nil, Foreign, found
		}
		return nil, Unknown, nil
	case r.isIdle():
		found = r.violation(misuse.DoublePut, true)
		g.mu.Unlock()
		return nil, Double, found
	case r.owner != owner:
		found = r.violation(misuse.ForeignPut, true)
		found.Holder = r.owner.Name()
		g.mu.Unlock()
		return nil, Foreign, found
	case cap(b) != r.size && !anyCap:
		g.mu.Unlock()
		return nil, Foreign, nil
	}
	instead, r.instead = r.instead, nil
	g.out.add(-1, r.bytes)
	pages := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -r.mark)), r.bytes)
	if r.carries {
		copy(instead[:r.size], pages[r.mark:])
	}
	if inBubble || !g.ready() || r.cut != g.unasked {
		g.end(r)
	} else {
		left := g.believed(g.enqueue(r, pages)) // last, because it lets go of the lock
		g.found = append(g.found, left...)
	}
	g.mu.Unlock()
	return instead, Accepted, nil
}

// Inside returns the misuse if a slice that is put back begins inside a guarded block, and not where
// that does, or nil.
func (g *Guard) Inside(b []byte) (found *misuse.Violation) {
	if g.known.Load() == 0 {
		return nil
	}
	at := addressOf(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.around(at)
	if r == nil || r.at == at {
		return nil
	}
	found = r.violation(misuse.InteriorPut, true)
	found.Offset = int(at - r.at)
	return found
}

// around returns the record of the block that has the byte at an address, or nil. It looks at all
// blocks that may: a block begins in the first of its pages.
func (g *Guard) around(at uintptr) *record {
	page := uintptr(g.sys.pageSize)
	for first := at &^ (page - 1); at-first < MaxSize+page; first -= page {
		r := g.find(first + Marked)
		if r == nil {
			r = g.find(first + Wide)
		}
		if r != nil {
			if at-r.at < uintptr(r.size) {
				return r
			}
			return nil
		}
	}
	return nil
}

// violation returns what is known of a block as a Violation of a kind. byCaller says that the
// caller's stack is that of the offence.
func (r *record) violation(kind misuse.Kind, byCaller bool) *misuse.Violation {
	v := &misuse.Violation{Kind: kind, Size: r.size, Count: 1, Bytes: r.size, Got: r.got.all()}
	if r.isIdle() {
		v.Put, v.Age = r.putBy.all(), time.Since(r.put)
	}
	if byCaller {
		var s stack
		s.record()
		v.Offence = s.all()
	}
	return v
}

// enqueue has a block that was put back wait, without its pages. It returns what was done to those
// that leave the queue for it, which the next sweep reports: this Put is not theirs. Not in a bubble,
// whose timers are not those of the process.
func (g *Guard) enqueue(r *record, pages []byte) (left findings) {
	for len(g.queue) > 0 && (g.idle.full(r.bytes, g.most()) || g.idle.blocks >= fewBlocks && g.idle.full(r.bytes, g.mayWait())) {
		oldest := g.queue[0]
		g.queue[0] = nil
		g.queue = g.queue[1:]
		left = append(left, g.look(oldest)...)
		g.drop(oldest)
	}
	r.putBy.record()
	r.put = time.Now()
	if !g.takeAway(pages) {
		g.end(r)
		return nil
	}
	r.pages = pages
	g.queue = append(g.queue, r)
	g.idle.add(1, r.bytes)
	g.armSweep()
	return left
}

// mayWait is how many bytes of more than fewBlocks may be idle. Those of the region are live wherever they are.
func (g *Guard) mayWait() int {
	if g.unasked {
		return g.most()
	}
	return g.mostIdle
}

// askLive asks how many bytes those may be in this heap.
func (g *Guard) askLive() {
	g.mostIdle = int(min(maxBytes, max(fewBytes, g.sys.live()/liveParts)))
}

// takeAway takes the pages of a block that was put back, and reports whether a use of it will be seen.
func (g *Guard) takeAway(pages []byte) bool {
	err := g.sys.giveBack(pages)
	if g.setting.Fault { // a system that locks pages keeps them, and hides them
		return g.off == "" && g.hide(pages)
	}
	if err != nil {
		g.turnOff("the system does not take pages back: " + err.Error())
		return false
	}
	return g.proven()
}

// hide makes whoever touches pages fault, and reports whether it does.
func (g *Guard) hide(pages []byte) bool {
	err := g.sys.hide(pages)
	if err != nil {
		g.open(pages)
		g.turnOff("the system does not take the access to pages away: " + err.Error())
	}
	return err == nil
}

// open ends what hide has begun. A system refuses that if it has no room for the mapping that the pages
// come to lie in. Then they are kept for good: to whoever got them next, it would be memory that faults.
func (g *Guard) open(pages []byte) {
	if err := g.sys.open(pages); err != nil {
		g.shut = append(g.shut, pages)
		g.turnOff("the system does not give the access to pages back: " + err.Error())
	}
}

// drop forgets an idle block, which its caller takes out of the queue. From then on the collector may
// have it, as soon as its last user has lost it, so first its pages are what they were.
func (g *Guard) drop(r *record) {
	g.end(r)
	g.idle.add(-1, r.bytes)
	if g.setting.Fault {
		g.open(r.pages)
	}
}

// dropAll forgets all idle blocks. A block that cannot be opened ends guarding, which comes here again.
func (g *Guard) dropAll() {
	queue := g.queue
	g.queue = nil
	for _, r := range queue {
		g.drop(r)
	}
}

// Fault returns the misuse behind a fault at an address, and whose the block is, or nil. The misuse's
// Offence is the stack of the caller, by the runtime's walk: one by frame pointers misses a function
// that has faulted.
func (g *Guard) Fault(at uintptr) (owner Owner, found *misuse.Violation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.around(at)
	if r == nil || !r.isIdle() {
		return nil, nil
	}
	found = r.violation(misuse.UseAfterPut, false)
	found.Offset = int(at - r.at)
	var here stack
	here.n = runtime.Callers(2, here.pcs[:])
	found.Offence = here.all()
	return r.owner, found
}

// turnOff ends guarding for good.
func (g *Guard) turnOff(why string) {
	if g.off == "" {
		g.off = why
	}
	g.news(Ended, g.off)
	g.Turns.stop()
	g.dropAll()
}
