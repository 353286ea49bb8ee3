package check

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/misuse"
)

// A desk is a Checker and its reports.
type desk struct {
	*Checker
	mu    sync.Mutex
	found []misuse.Violation
}

func newDesk() *desk { return newDeskOf(false) }

func newDeskOf(sampled bool) *desk {
	d := new(desk)
	d.Checker = New(sampled, func(v misuse.Violation) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.found = append(d.found, v)
	})
	return d
}

// Forget and Out wrap the Checker's methods, whose callers must report what they
// return.
func (d *desk) Forget(at uintptr, block []byte) {
	if v := d.Checker.Forget(at, block); v != nil {
		d.report(*v)
	}
}

func (d *desk) Out(age time.Duration, now time.Time) (n, left int) {
	leaks, n, left := d.Checker.Out(age, now)
	for _, v := range leaks {
		d.report(v)
	}
	return n, left
}

// take returns what was reported since the last call.
func (d *desk) take() (found []misuse.Violation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, d.found = d.found, nil
	return found
}

func at(b []byte) uintptr { return reflect.ValueOf(&b[0]).Pointer() }

// expect checks that one violation of a kind was reported, with stacks that name the
// functions in which things happened, "" for no stack.
func (d *desk) expect(t *testing.T, kind misuse.Kind, got, put, offence string) {
	t.Helper()
	found := d.take()
	if len(found) != 1 || found[0].Kind != kind {
		t.Errorf("reported %v, want one of kind %d", found, kind)
		return
	}
	v := found[0]
	for _, s := range []struct {
		what  string
		stack []uintptr
		want  string
	}{{"Get", v.Got, got}, {"Put", v.Put, put}, {"offence", v.Offence, offence}} {
		if s.want == "" && s.stack != nil || s.want != "" && !strings.Contains(strings.Join(functions(s.stack), "\n"), s.want) {
			t.Errorf("the stack of the %s, want %q:\n%q", s.what, s.want, functions(s.stack))
		}
	}
}

//go:noinline
func (d *desk) getHere(b []byte) { d.Get(at(b), b, true) }

//go:noinline
func (d *desk) putHere(b []byte) Verdict { return d.Put(at(b), len(b)) }

//go:noinline
func (d *desk) putAgain(b []byte) Verdict { return d.Put(at(b), len(b)) }

func TestDoublePut(t *testing.T) {
	d, b := newDesk(), make([]byte, 128)
	d.getHere(b)
	if v := d.putHere(b); v != Accepted || len(d.take()) != 0 {
		t.Errorf("the first Put: %v", v)
	}
	for range 2 {
		if v := d.putAgain(b); v != Refused {
			t.Errorf("the second Put: %v", v)
		}
		d.expect(t, misuse.DoublePut, "getHere", "putHere", "putAgain")
	}
	Poison(b)
	d.getHere(b)
	if v := d.putHere(b); v != Accepted || len(d.take()) != 0 {
		t.Errorf("after another Get: %v", v)
	}
}

func TestWriteAfterPut(t *testing.T) {
	for _, size := range []int{64, 4096, 4097, 100_000} {
		for _, change := range []int{0, size / 2, size - 1} {
			d, b := newDesk(), make([]byte, size)
			idle := func() {
				d.getHere(b)
				d.putHere(b)
				Poison(b)
			}
			idle()
			b[change]++
			d.getHere(b)
			d.expect(t, misuse.WriteAfterPut, "getHere", "putHere", "getHere")
			d.putHere(b)
			Poison(b)
			b[change]++
			d.Forget(at(b), b)
			d.expect(t, misuse.WriteAfterPut, "getHere", "putHere", "")
			idle()
			d.Forget(at(b), b)
			idle()
			d.getHere(b)
			if found := d.take(); found != nil {
				t.Errorf("nothing was written: %v", found)
			}
		}
	}
}

// A violation says which bytes were written, with what they were.
func TestWritten(t *testing.T) {
	for _, seal := range []bool{false, true} {
		for _, w := range []struct{ first, last, shown int }{{0, 0, 1}, {63, 63, 1}, {5, 36, 32}, {5, 37, 32}, {0, 63, 32}} {
			d, b := newDesk(), make([]byte, 64)
			d.getHere(b)
			d.putHere(b)
			was := byte(poisonByte)
			if seal {
				was = 0
				d.Seal(at(b), b)
			} else {
				Poison(b)
			}
			b[w.first], b[w.last] = 1, 2
			d.Forget(at(b), b)
			v := d.take()[0]
			if v.Offset != w.first || v.Written != w.last+1-w.first || !bytes.Equal(v.Old, bytes.Repeat([]byte{was}, w.shown)) || !bytes.Equal(v.New, b[w.first:w.first+w.shown]) {
				t.Errorf("sealed %v, bytes %d to %d: %+v", seal, w.first, w.last, v)
			}
		}
	}
}

// A record keeps the room of small seals for its next block, and of no others.
func TestSealsAreReused(t *testing.T) {
	for _, size := range []int{64, mostSealed, mostSealed + 1} {
		d, b := newDesk(), make([]byte, size)
		d.getHere(b)
		d.putHere(b)
		d.Seal(at(b), b)
		d.Forget(at(b), b)
		if kept := cap(d.shard(at(b)).free[0].seal); kept < size != (size > mostSealed) {
			t.Errorf("of %d bytes %d are kept", size, kept)
		}
	}
}

// An object that was sealed must be unchanged.
func TestSeal(t *testing.T) {
	d, b := newDesk(), make([]byte, 48)
	for _, change := range []bool{false, true} {
		d.getHere(b)
		b[7] = 9
		d.putHere(b)
		d.Seal(at(b), b)
		if change {
			b[7]++
			d.getHere(b)
			d.expect(t, misuse.WriteAfterPut, "getHere", "putHere", "getHere")
			continue
		}
		d.getHere(b)
		if found := d.take(); found != nil {
			t.Errorf("nothing was written: %v", found)
		}
		d.putHere(b)
		Poison(b)
		d.Forget(at(b), b)
		d.take()
	}
}

// An object that is adopted is idle, and behaves like any other from then on.
func TestAdopt(t *testing.T) {
	d, b := newDesk(), make([]byte, 48)
	adoptHere := func() Verdict { return d.Adopt(at(b), b) }
	if v := adoptHere(); v != Accepted || len(d.take()) != 0 {
		t.Errorf("the first: %v", v)
	}
	d.Seal(at(b), b)
	if v := adoptHere(); v != Refused {
		t.Errorf("the second: %v", v)
	}
	d.expect(t, misuse.DoublePut, "", "TestAdopt", "TestAdopt")
	d.getHere(b)
	if v := adoptHere(); v != Accepted || len(d.take()) != 0 {
		t.Errorf("after a Get: %v", v)
	}
	d.Seal(at(b), b)
	d.Forget(at(b), b)
	if found := d.take(); found != nil || d.watching() != 0 {
		t.Errorf("forgotten: %v", found)
	}
}

// With sampled, stacks are recorded in another way, and records are reused: what was
// reported does not change.
func TestFew(t *testing.T) {
	for _, sampled := range []bool{true, false} {
		d := newDeskOf(sampled)
		b := make([]byte, 64)
		d.getHere(b)
		d.putHere(b)
		d.Poison(at(b), b)
		d.putAgain(b)
		found := d.take()
		again := make([]byte, 128)
		for range 100 {
			d.Forget(at(b), b)
			func() { d.Get(at(again), again, true) }() // in the record of b
			func() { d.Put(at(again), len(again)) }()
			d.Poison(at(again), again)
			d.Forget(at(again), again)
			d.getHere(b)
			d.putHere(b)
			d.Poison(at(b), b)
		}
		if n := d.records(); n > 2 {
			t.Errorf("%d records for one block at a time", n)
		}
		if more := d.take(); len(more) != 0 || len(found) != 1 {
			t.Fatalf("sampled %v: %v, then %v", sampled, found, more)
		}
		d.found = found
		d.expect(t, misuse.DoublePut, "getHere", "putHere", "putAgain")
		runtime.KeepAlive(again)
	}
}

func TestEnd(t *testing.T) {
	d, b, c := newDeskOf(true), make([]byte, 64), make([]byte, 64)
	counts := func() uint32 { return filter[slot(at(b))].Load() + filter[slot(at(c))].Load() }
	for slot(at(b)) == slot(at(c)) || counts() > 0 { // other tests leave some, which may go meanwhile
		b, c = make([]byte, 64), make([]byte, 64)
	}
	d.Get(at(b), b, false)
	d.Get(at(c), c, false)
	d.putHere(c)
	if counts() != 2 || !Watched(at(b)) || !Watched(at(c)) {
		t.Error("not watched")
	}
	d.End()
	d.Forget(at(c), c) // as its pool does
	if n := counts(); n != 0 || d.putHere(b) != Unknown || d.take() != nil {
		t.Errorf("the filter counts %d", n)
	}
}

// The cleanup of a block may run when its memory belongs to another block already, and
// the record with it: that block has not leaked, and is watched as before.
func TestCollectedLate(t *testing.T) {
	d, b := newDeskOf(true), make([]byte, 64)
	d.getHere(b)
	r := d.shard(at(b)).at[at(b)]
	late := collectedBlock{d.Checker, at(b), r, r.use}
	d.putHere(b) // as the owner of the memory there may now do
	d.Poison(at(b), b)
	d.Forget(at(b), b)
	late.collected() // the record is unused
	s := d.shard(at(b))
	s.mu.Lock()
	again := d.track(s, at(b), b, true)
	s.mu.Unlock()
	if again != r {
		t.Fatal("the record is not used again: this shows nothing")
	}
	late.collected()
	if found := d.take(); found != nil || s.at[at(b)] != r {
		t.Errorf("reported %v; watched %v", found, s.at[at(b)] == r)
	}
	runtime.KeepAlive(b)
}

// An object that was made where a leaked one was is not that one.
func TestAdoptWhereOneHasLeaked(t *testing.T) {
	d, b := newDesk(), make([]byte, 64)
	d.getHere(b)
	s := d.shard(at(b))
	leaked := s.at[at(b)]
	leaked.alive = weak.Make(&new([64]byte)[0]) // not one byte: others of its size could keep it alive
	for leaked.alive.Value() != nil {
		runtime.GC()
	}
	if v := d.Put(at(b), len(b)); v != Unknown {
		t.Errorf("Put is %d", v)
	}
	if v := d.Adopt(at(b), b); v != Accepted || s.at[at(b)] == leaked || s.at[at(b)] == nil {
		t.Errorf("Adopt is %d", v)
	}
	again := s.at[at(b)]
	s.at[at(b)] = leaked
	d.report(d.Stranger(at(b[16:]), 16))
	d.expect(t, misuse.ForeignPut, "", "", "TestAdopt") // not inside a block that no longer exists
	s.at[at(b)] = again
	collectedBlock{d.Checker, at(b), leaked, leaked.use}.collected()
	d.expect(t, misuse.Leak, "getHere", "", "")
	if v := d.Adopt(at(b), b); v != Refused {
		t.Error("the object is not watched any more")
	}
	runtime.KeepAlive(b)
}

// records counts all records.
func (d *desk) records() (n int) {
	for i := range d.shards {
		n += len(d.shards[i].at) + len(d.shards[i].free)
	}
	return n
}

func TestStranger(t *testing.T) {
	d, b := newDesk(), make([]byte, 8192)
	d.getHere(b)
	inside, other := b[4096:], make([]byte, 4096)
	for _, s := range [][]byte{inside, other, b[:4096:4096]} {
		if v := d.Put(at(s), cap(s)); v != Unknown {
			t.Errorf("Put: %v", v)
		}
	}
	d.report(d.Stranger(at(inside), cap(inside)))
	d.expect(t, misuse.InteriorPut, "getHere", "", "TestStranger")
	d.report(d.Stranger(at(other), cap(other)))
	d.expect(t, misuse.ForeignPut, "", "", "TestStranger")
	if d.putHere(b) != Accepted {
		t.Error("the block itself is refused")
	}
}

// A block that is lost is reported with its Get, whatever is at its address then. A
// block that was put back, or is no longer watched, is not reported.
func TestLeak(t *testing.T) {
	d := newDesk()
	var was []uintptr
	func() {
		leaked, returned, forgotten := make([]byte, 1<<20), make([]byte, 1<<20), make([]byte, 1<<20)
		was = []uintptr{at(leaked), at(returned), at(forgotten)}
		d.getHere(leaked)
		d.getHere(returned)
		d.putHere(returned)
		d.getHere(forgotten)
		d.putHere(forgotten)
		Poison(forgotten)
		d.Forget(at(forgotten), forgotten)
		runtime.KeepAlive(leaked)
	}()
	for d.watching() > 0 { // if they are not, the test runs into its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	for d.reported() == 0 {
		time.Sleep(time.Millisecond)
	}
	d.expect(t, misuse.Leak, "getHere", "", "")
	for _, at := range was {
		for Watched(at) { // as one of another test may be until it is collected
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
}

// If the address of a lost block is in use again before its cleanup has run, the leak
// is reported nevertheless, and once.
func TestLeakBeforeCleanup(t *testing.T) {
	d, b := newDesk(), make([]byte, 1<<20)
	d.getHere(b)
	d.getHere(b)
	d.expect(t, misuse.Leak, "getHere", "", "")
	d.putHere(b)
	b = nil
	for d.watching() > 0 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if found := d.take(); found != nil {
		t.Errorf("again: %v", found)
	}
}

func (d *desk) watching() (n int) {
	for i := range d.shards {
		d.shards[i].mu.Lock()
		n += len(d.shards[i].at)
		d.shards[i].mu.Unlock()
	}
	return n
}

func (d *desk) reported() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.found)
}

func TestOut(t *testing.T) {
	d, b, c := newDesk(), make([]byte, 64), make([]byte, 64)
	d.getHere(b)
	d.getHere(c)
	d.putHere(c)
	if n, left := d.Out(time.Hour, time.Now()); n != 0 || left != 1 || d.take() != nil {
		t.Errorf("%d have been out for an hour, %d not so long", n, left)
	}
	if n, left := d.Out(time.Nanosecond, time.Now().Add(time.Hour).Round(0)); n != 0 || left != 0 {
		t.Errorf("by a clock that is not this one %d have been out for long, and %d not", n, left)
	}
	if n, left := d.Out(2*time.Hour, time.Now().Add(time.Hour)); n != 0 || left != 1 {
		t.Errorf("%d have been out for two hours, %d not so long", n, left)
	}
	if n, left := d.Out(0, time.Now()); n != 1 || left != 0 {
		t.Errorf("%d are out, and %d", n, left)
	}
	d.expect(t, misuse.Leak, "getHere", "", "")
	if n, left := d.Out(0, time.Now()); n != 0 || left != 0 || d.take() != nil {
		t.Error("reported twice")
	}
	d.putHere(b)
	Poison(b)
	d.getHere(b)
	if n, _ := d.Out(0, time.Now()); n != 1 {
		t.Errorf("of its next owner: %d", n)
	}
	d.take()
	runtime.KeepAlive(b)
}

// Of many goroutines that put one block back at once, one is accepted.
func TestRacingPuts(t *testing.T) {
	d, b := newDesk(), make([]byte, 64)
	for range 1000 {
		d.getHere(b)
		var wg go125.WaitGroup
		var accepted [4]bool
		for i := range accepted {
			wg.Go(func() { accepted[i] = d.putHere(b) == Accepted })
		}
		wg.Wait()
		n := 0
		for _, a := range accepted {
			if a {
				n++
			}
		}
		if found := d.take(); n != 1 || len(found) != 3 {
			t.Fatalf("%d were accepted, %d reported", n, len(found))
		}
		Poison(b)
	}
}

// The quarantine keeps the last blocks that fit, in order.
func TestQuarantine(t *testing.T) {
	q := Quarantine{Bytes: 4096}
	add := func(b []byte) bool { return q.Add(Block{Bytes: b}) }
	left := 0
	for i := range 3 * QuarantineBlocks {
		if !add([]byte{byte(i), byte(i >> 8)}) {
			t.Fatal("refused")
		}
		for b, ok := q.Leave(); ok; b, ok = q.Leave() {
			if b := b.Bytes; int(b[0])|int(b[1])<<8 != left {
				t.Fatalf("block %d left in the place of %d", b[0], left)
			}
			left++
		}
		if want := max(0, i+1-QuarantineBlocks); left != want {
			t.Fatalf("%d have left after %d, want %d", left, i+1, want)
		}
	}
	if add(make([]byte, 4097)) {
		t.Error("too large, and taken")
	}
	large := make([]byte, 4096)
	add(large)
	for _, ok := q.Leave(); ok; _, ok = q.Leave() {
		left++
	}
	if q.Len() != 1 {
		t.Errorf("%d blocks in quarantine, want 1", q.Len())
	}
	if blocks := q.Empty(false); left != 3*QuarantineBlocks || len(blocks) != 1 || &blocks[0].Bytes[0] != &large[0] {
		t.Errorf("%d have left, %d are in it", left, len(blocks))
	}
	add(large)
	add(large[:8])
	first, _ := q.Next()
	second, _ := q.Next()
	if _, ok := q.Next(); ok || len(first.Bytes) != len(large) || len(second.Bytes) != 8 || q.Len() != 0 {
		t.Errorf("Next gives %d bytes first", len(first.Bytes))
	}
	add(large)
	if len(q.Empty(true)) != 1 || add(large) || q.Empty(true) != nil {
		t.Error("a quarantine that has ended takes blocks")
	}
}

func TestOverlaps(t *testing.T) {
	d, b := newDesk(), make([]byte, 256)
	middle := b[64:128:128]
	d.getHere(middle)
	for _, tt := range []struct {
		from, size int
		want       bool
	}{{0, 64, false}, {0, 65, true}, {64, 64, true}, {80, 10, true}, {127, 50, true}, {128, 64, false}, {0, 256, true}} {
		if got := d.Overlaps(at(b)+uintptr(tt.from), tt.size); got != tt.want {
			t.Errorf("%d bytes from %d on: %v", tt.size, tt.from, got)
		}
	}
	d.putHere(middle)
	if !d.Overlaps(at(middle), 64) {
		t.Error("an idle block is not seen")
	}
	d.Poison(at(middle), middle)
	d.Forget(at(middle), middle)
	if d.Overlaps(at(middle), 64) || d.take() != nil {
		t.Error("a block that is not watched is seen")
	}
}

// A block that its owner may lose is no leak, until it has another owner.
func TestExcuse(t *testing.T) {
	d := newDesk()
	func() {
		lost, returned := make([]byte, 1<<20), make([]byte, 1<<20)
		d.getHere(lost)
		d.Excuse(at(lost))
		d.getHere(returned)
		d.Excuse(at(returned))
		if n, left := d.Out(0, time.Now()); n != 0 || left != 0 {
			t.Errorf("%d leaks, %d others are out", n, left)
		}
		d.putHere(returned)
		d.Poison(at(returned), returned)
		d.getHere(returned)
		if n, _ := d.Out(0, time.Now()); n != 1 {
			t.Errorf("%d leaks, want that of the next owner", n)
		}
		d.expect(t, misuse.Leak, "getHere", "", "")
		runtime.KeepAlive(lost)
	}()
	d.awaitLost()
	if found := d.take(); found != nil {
		t.Errorf("of a block that may be lost: %v", found)
	}
	d.Excuse(1) // what is not watched
	if free := d.free(); free != 1 {
		t.Errorf("%d records can be used again, want that of the lost block", free)
	}
}

// functions returns the functions of a stack, as a report has them.
func functions(stack []uintptr) (all []string) {
	for _, f := range misuse.Frames(stack) {
		all = append(all, f.Function)
	}
	return all
}
