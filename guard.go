package dewpond

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/guardpage"
	"github.com/dewpond/dewpond/internal/sizeclass"
	"github.com/dewpond/dewpond/misuse"
)

// A sampled Get does all that any Get does, and then hands out a guarded block in the place of the
// pool's own, which waits for its Put: see package guardpage. So all counts and bounds are as if it
// had not been sampled. The Get comes the slow way because the engine is armed, and the Put because
// of where the block begins. Neither costs another Get or Put anything.

// guarded is the part of a pool whose callers get guarded blocks. It outlives the pool, as reports do.
type guarded struct {
	*guardpage.Guard
	reports
	seen    check.Seen // by the stacks of Get and Put, or of Get and the misuse
	rooms   []int      // bytes to allocate for a block, by class
	samples atomic.Uint64
}

// processGuard is the Guard of the process, or nil if none was asked for. A pool reads it when it is made: one
// that is made during SetGuard has blocks guarded or not, and stays so.
var processGuard atomic.Pointer[guardpage.Guard]

// guardAsked is what the process was asked for.
var guardAsked struct {
	mu     sync.Mutex
	byUser bool // by the environment
	guardpage.Setting
}

func init() { // before any pool is made: whoever makes one imports this package
	text := os.Getenv(guardpage.Environment)
	asked, ok := guardpage.Parse(text)
	if !ok {
		check.Note("the environment's "+guardpage.Environment+" is none of off, touch, fault, touch=RATE and fault=RATE, with samples a second: it counts as off", "value", text)
	}
	guardAsked.byUser = text != ""
	guardAs(asked)
	if mode, _ := CheckOff.effective(); asked.Rate > 0 && mode != CheckOff {
		check.Note("no block is guarded ("+check.Environment+" is set, and a checked pool guards none)", guardpage.Environment, text)
	} else if asked.Rate > 0 {
		processGuard.Load().Tell(func(n guardpage.News, why string) { sayGuard(asked, text, n, why) })
	}
}

// sayGuard says to who has set the variable to text whether that does anything here.
func sayGuard(asked guardpage.Setting, text string, n guardpage.News, why string) {
	switch n {
	case guardpage.Works:
		then := "is reported"
		if asked.Fault {
			then = "faults"
		}
		check.Inform(fmt.Sprintf("the first of about %v Gets a second has a guarded block, whose use after its Put %s", asked.Rate, then), guardpage.Environment, text)
	case guardpage.Pauses:
		check.Note("no block is guarded for now ("+why+")", guardpage.Environment, text)
	case guardpage.Ended:
		check.Note("no block is guarded ("+why+")", guardpage.Environment, text)
	}
}

// guardAs has pools that are made from now on guard blocks.
func guardAs(asked guardpage.Setting) {
	guardAsked.Setting = asked
	if asked.Rate > 0 {
		processGuard.Store(guardpage.New(asked, armAll))
	}
}

// SetGuard does for the pools that are made from now on, and for zero ones that are first used from now
// on, what the environment variable DEWPOND_GUARD does for all: a sample of their Gets has guarded blocks,
// whose use after Put is found: see [Stats.Guard]. setting is a value of that variable: off, touch, fault, touch=RATE or
// fault=RATE, with samples a second.
//
// Pools in package variables are made before main begins, so it is the variable that reaches every pool. If it
// has a value, that is in force, and SetGuard does nothing. What is in force stays: to give another setting
// later is an error, as is one that is none of these.
func SetGuard(setting string) error {
	asked, ok := guardpage.Parse(setting)
	if !ok {
		return fmt.Errorf("dewpond: SetGuard(%q): give off, touch, fault, touch=RATE or fault=RATE, with samples a second", setting)
	}
	guardAsked.mu.Lock()
	defer guardAsked.mu.Unlock()
	switch before := guardAsked.Setting; {
	case guardAsked.byUser, asked == before:
		return nil
	case before.Rate > 0: // pools know its blocks, and it theirs
		return fmt.Errorf("dewpond: SetGuard(%q): %v=%v was set before, and stays", setting, before, before.Rate)
	}
	guardAs(asked)
	return nil
}

// armAll has the next Gets of all pools ask whether they are to be sampled.
func armAll() {
	for _, p := range livePools.Live() {
		p.arm()
	}
}

func (p *BytePool) arm() {
	if p.guard != nil {
		p.engine.Arm()
	}
}

// armIfDue arms a pool that armAll did not find, because it is new.
func (p *BytePool) armIfDue() {
	if p.guard != nil && p.guard.Due() {
		p.engine.Arm()
	}
}

// beGuarded has the pool's callers get guarded blocks, if that is asked for and can be. What its blocks
// count does not change: a Budget that was made for some blocks must have room for them.
func (p *BytePool) beGuarded(o BytePoolOptions) {
	p.alignment = blockAlignment - 1
	g, unit := processGuard.Load(), 1
	switch e := p.elements; {
	case g == nil:
		p.bare = guardpage.Environment + " asks for none"
	case g.Ended() != "":
		p.bare = g.Ended()
	case p.checks != nil:
		p.bare = "the pool is checked"
	case p.source != nil:
		p.bare = "its memory is an Allocator's"
	case e.havePointers():
		p.bare = "its elements have pointers"
	case e.watched() != nil: // a page that is given back has none of what they write
		p.bare = "goroutines may change its elements while they are idle"
	case keepApart() && o.mayWait():
		p.bare = "each bubble has a part of it"
	case e != nil:
		unit = e.size
	}
	if p.bare != "" {
		return
	}
	mark := guardpage.Marked
	if p.elements == nil && !slices.ContainsFunc(o.Classes, func(size int) bool { return size%guardpage.Wide != 0 }) {
		mark = guardpage.Wide // as Go's blocks of such sizes begin, so that callers may count on it
	}
	rooms, ok := sizeclass.Rooms(o.Classes, unit, 2*mark)
	if !ok {
		p.bare = "its blocks begin anywhere"
		return
	}
	p.alignment = uint8(2*mark - 1)
	p.guard = &guarded{Guard: g, rooms: rooms}
	p.guard.on = o.OnViolation
	p.guard.advice = "The access itself was not seen. To see it, have it fault: " + guardpage.Environment + "=fault in one instance, or in a test a pool off the heap, dewtest.NewOffHeapBytePool."
}

// Name is the pool's, for a report of another's Put.
func (g *guarded) Name() string { return g.pool }

// Report reports a misuse of a guarded block. That of one place is reported once.
func (g *guarded) Report(found misuse.Violation) {
	second := found.Offence
	if second == nil {
		second = found.Put
	}
	if g.seen.First(found.Got, second) {
		g.report(found)
	} else {
		g.count.Add(uint64(found.Count))
	}
}

// mayBeGuarded reports whether a guarded block may begin where a slice does: one of this pool, or of one whose
// blocks need not begin at multiples of 64. False is certain.
func (p *BytePool) mayBeGuarded(b []byte) bool {
	at := addressOf(b)
	return p.guard != nil && (guardpage.IsMarked(at) || uint8(at)&p.alignment == p.alignment/2+1)
}

// room returns how many bytes to allocate for a block of a class and size.
func (g *guarded) room(class uint8, size int) int {
	if g == nil {
		return size
	}
	return g.rooms[class]
}

// sampled returns what the caller of a Get gets in the place of b, a slice of a block or nil: b, or if
// this Get is sampled a guarded block.
func (p *BytePool) sampled(b []byte) []byte {
	if b == nil || !p.engine.Armed() {
		return b
	}
	mine := p.guard.Mine() && cap(b) <= guardpage.MaxSize // in this order: a large block takes a turn, or the engine would stay armed
	if !p.guard.Due() {
		p.engine.Disarm(p.guard.Due)
	}
	if mine {
		if guarded := p.guard.GetFor(p.needs(), b, p.guard); guarded != nil {
			p.guard.samples.Add(1)
			return guarded
		}
	}
	return b
}

// needs returns what the pool needs of its guarded blocks.
func (p *BytePool) needs() (need guardpage.Need) {
	if p.onPut&resetBlock != 0 { // Reset runs on the pool's own slice: what it left there goes to the caller, and comes back at Put
		need |= guardpage.Contents
	}
	if p.onPut&askBudget != 0 { // the charge for the pool's own slice ends when the caller has lost the guarded one
		need |= guardpage.Collected
	}
	if p.alignment == 2*guardpage.Wide-1 {
		need |= guardpage.Aligned
	}
	return need
}

// sampledBatch is sampled for one of several blocks.
func (p *BytePool) sampledBatch(blocks [][]byte) {
	if len(blocks[0]) > 0 {
		i := rand.IntN(len(blocks))
		blocks[i] = p.sampled(blocks[i])
	}
}

// putOwn puts back the pool's own block, for a guarded one.
func (p *BytePool) putOwn(own []byte) {
	if p.onPut&resetBlock != 0 { // which Put leaves to that of a SlicePool
		p.putSlow(own)
		return
	}
	p.Put(own)
}

// putGuarded takes back a slice that may be a guarded block. done says that there is nothing more to
// do: the Put was a misuse. Otherwise own is the pool's block that is to be put back in its place, or
// nil if the slice is no guarded block.
func (p *BytePool) putGuarded(b []byte, anyCap bool) (own []byte, done bool) {
	own, verdict, misuse := p.guard.Put(b, anyCap, p.guard)
	switch verdict {
	case guardpage.Double:
		p.count.droppedDouble.Add(1)
	case guardpage.Foreign:
		p.count.droppedForeign.Add(1)
	default:
		return own, false
	}
	if misuse != nil { // last, because OnViolation may panic
		p.guard.Report(*misuse)
	}
	return nil, true
}

// explainGuarded finds and reports the Violation behind a fault in a guarded block that is idle.
func explainGuarded(at uintptr) (violation any, ok bool) {
	g := processGuard.Load()
	if g == nil {
		return nil, false
	}
	owner, found := g.Fault(at)
	if found == nil {
		return nil, false
	}
	p := owner.(*guarded)
	p.Report(*found)
	return p.violation(*found), true
}

// guardStats says how the pool's blocks are guarded.
func (p *BytePool) guardStats(s *Stats) {
	if p.guard == nil {
		s.Guard.Setting = "off (" + p.bare + ")"
		return
	}
	s.Guard.Setting = p.guard.Setting().String()
	if why := p.guard.Off(); why != "" {
		s.Guard.Setting = "off (" + why + ")"
	} else if p.needs()&guardpage.Collected != 0 && p.guard.LosesForGood() {
		s.Guard.Setting = "off (huge pages are made unasked, and there what is lost stays charged to its Budget)"
	}
	s.Guard.Samples = p.guard.samples.Load()
	s.Guard.Rate = p.guard.RealRate()
	s.Violations += p.guard.count.Load()
}
