package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// An objectModel is what a Pool must do for one user. It knows every object that New has
// made: each is with the user, idle, or was dropped, once.
type objectModel struct {
	history
	in   *script
	p    *dewpond.Pool[fuzzObject]
	o    dewpond.PoolOptions[fuzzObject]
	last dewpond.Stats

	mu    sync.Mutex // New, Reset and Drop are called by several goroutines
	made  int
	gone  int
	fails []string // what they have seen

	out       []*fuzzObject
	lost      int // by a Reset that panicked
	closed    bool
	want      dewpond.Stats
	prewarmed int
}

// A fuzzObject notes what becomes of it.
type fuzzObject struct {
	state   objectState
	written int  // by its owner, until Reset
	big     bool // Keep refuses it
	panics  bool // in Reset
}

type objectState uint8

const (
	isIdle objectState = iota
	isOut
	isComing // is being put back
	isGone
)

const (
	opObjectGet = iota
	opObjectTryGet
	opObjectGetContext
	opObjectPut
	opObjectPutBig
	opObjectPutPanics
	opObjectPrewarm
	opObjectTrim
	opObjectClose
	opObjectRest
	opObjectProcs
	opObjectBurst
	opObjectPutAll
	objectOps
)

// FuzzPool does what a script says with a Pool, and compares every step with a model.
func FuzzPool(f *testing.F) {
	all := []byte{
		opObjectGet, opObjectGet, opObjectTryGet, opObjectTryGet, opObjectGetContext, 0, opObjectPut, 0, opObjectPut, 1, opObjectGet, opObjectPutBig, 0, opObjectGet, opObjectGet,
		opObjectPutPanics, 0, opObjectTryGet, opObjectTryGet, opObjectGetContext, 1, opObjectPrewarm, 3, opObjectPrewarm, 8, opObjectPutAll, opObjectTrim, opObjectPrewarm, 2, opObjectGet,
		opObjectProcs, 3, opObjectBurst, 3, 9, opObjectProcs, 0, opObjectBurst, 2, 30, opObjectRest, 1, opObjectGet, opObjectPut, 0, opObjectRest, 5, opObjectGet, opObjectGet,
		opObjectGet, opObjectGet, opObjectGet, opObjectPutAll, opObjectPut, 0, opObjectGet, opObjectClose, 0, opObjectGet, opObjectTryGet, opObjectPut, 0, opObjectPrewarm, 1, opObjectTrim,
	}
	addScripts(f, [][]byte{{0, 0, 0, 0}, all}, [][]byte{{1, 2, 1, 1}, all}, [][]byte{{2, 1, 2, 2}, all}, [][]byte{{3, 4, 3, 3}, all}, [][]byte{{0, 3, 0, 2}, all})
	f.Fuzz(func(t *testing.T, b []byte) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		synctest.Test(t, func(t *testing.T) {
			m := newObjectModel(t, &script{b})
			for range scriptSteps {
				if m.in.ended() {
					break
				}
				m.step()
				m.check()
			}
			m.putAll()
			m.check()
			m.close()
			m.check()
		})
	})
}

func newObjectModel(t *testing.T, in *script) *objectModel {
	m := &objectModel{history: history{t: t}, in: in}
	m.o = dewpond.PoolOptions[fuzzObject]{
		Name:        t.Name(),
		MaxOut:      oneOf(in, 0, 1, 3, 10),
		MaxIdle:     oneOf(in, 0, 1, 4, 30, dewpond.NoIdle),
		IdleTimeout: oneOf(in, -1, 0, 100*time.Millisecond, time.Second),
	}
	runtime.GOMAXPROCS(1 + in.below(4))
	m.say("MaxOut %d, MaxIdle %d, IdleTimeout %v, GOMAXPROCS %d", m.o.MaxOut, m.o.MaxIdle, m.o.IdleTimeout, runtime.GOMAXPROCS(0))
	m.o.New = func() *fuzzObject {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.made++
		return new(fuzzObject)
	}
	m.o.Keep = func(v *fuzzObject) bool {
		m.expectState(v, isComing, "Keep")
		return !v.big
	}
	m.o.Reset = func(v *fuzzObject) {
		m.expectState(v, isComing, "Reset")
		if v.panics {
			panic("Reset")
		}
		*v = fuzzObject{}
	}
	m.o.Drop = func(v *fuzzObject) {
		want := isIdle
		if v.big {
			want = isComing
		}
		m.expectState(v, want, "Drop")
		m.mu.Lock()
		defer m.mu.Unlock()
		v.state = isGone
		m.gone++
	}
	m.p = dewpond.MustPool(m.o)
	t.Cleanup(func() { m.p.Close() })
	m.last = m.p.Stats()
	return m
}

// expectState notes an object that is somebody else's business.
func (m *objectModel) expectState(v *fuzzObject, want objectState, what string) {
	if v.state != want {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fails = append(m.fails, fmt.Sprintf("%s of an object in state %d, want %d", what, v.state, want))
	}
}

func (m *objectModel) exhausted() bool {
	return m.o.MaxOut > 0 && len(m.out) >= m.o.MaxOut
}

// take makes the user the owner of what Get and its like returned.
func (m *objectModel) take(v *fuzzObject) {
	m.t.Helper()
	if v.state != isIdle || v.written != 0 {
		m.fail("Get returned an object in state %d, in which its last owner wrote %d", v.state, v.written)
	}
	if m.o.MaxOut > 0 && m.last.IdleBytes > 0 && m.p.Stats().Misses > m.last.Misses {
		m.fail("New was called while %d bytes were idle, with MaxOut", m.last.IdleBytes)
	}
	v.state, v.written = isOut, 7
	m.out = append(m.out, v)
	m.want.Gets++
}

// tried is take for what may have been refused.
func (m *objectModel) tried(v *fuzzObject, err, want error) {
	m.t.Helper()
	switch {
	case !errors.Is(err, want) || (v == nil) != (err != nil):
		m.fail("%v, want %v", err, want)
	case err == nil:
		m.take(v)
	case err != dewpond.ErrClosed:
		m.want.Refused++
	}
}

// refusal is what TryGet must return, or GetContext whose wait ends with an error.
func (m *objectModel) refusal(exhausted error) error {
	switch {
	case m.closed:
		return dewpond.ErrClosed
	case m.exhausted():
		return exhausted
	}
	return nil
}

func (m *objectModel) step() {
	switch m.in.below(objectOps) {
	case opObjectGet:
		if len(m.out) > 60 {
			return
		}
		m.say("Get")
		if m.exhausted() {
			m.want.OverMaxOut++
		}
		m.take(m.p.Get())
	case opObjectTryGet:
		if len(m.out) > 60 {
			return
		}
		want := m.refusal(dewpond.ErrExhausted)
		m.say("TryGet: %v", want)
		v, err := m.p.TryGet()
		m.tried(v, err, want)
	case opObjectGetContext:
		m.getContext()
	case opObjectPut:
		m.put(m.takeOut())
	case opObjectPutBig:
		if v := m.takeOut(); v != nil {
			v.big = true
			m.put(v)
		}
	case opObjectPutPanics:
		m.putPanics()
	case opObjectPrewarm:
		m.prewarm()
	case opObjectTrim:
		m.trim()
	case opObjectClose:
		if m.in.below(4) == 0 {
			m.close()
		}
	case opObjectRest:
		m.rest()
	case opObjectProcs:
		n := 1 + m.in.below(6)
		m.say("GOMAXPROCS %d", n)
		runtime.GOMAXPROCS(n)
	case opObjectBurst:
		m.burst()
	case opObjectPutAll:
		m.putAll()
	}
}

func (m *objectModel) getContext() {
	deadline := m.in.below(2) == 1
	if len(m.out) > 60 {
		return
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Millisecond)
	defer cancel()
	want := m.refusal(context.DeadlineExceeded)
	if !deadline {
		cancel()
		want = m.refusal(context.Canceled)
	}
	m.say("GetContext: %v", want)
	v, err := m.p.GetContext(ctx)
	m.tried(v, err, want)
}

func (m *objectModel) takeOut() *fuzzObject { return takeOne(m.in, &m.out) }

func (m *objectModel) put(v *fuzzObject) {
	m.t.Helper()
	if v == nil {
		m.p.Put(nil)
		return
	}
	m.say("Put, big: %v", v.big)
	if v.state != isOut || v.written != 7 {
		m.fail("an object was used by somebody else: state %d", v.state)
	}
	v.state = isComing
	m.want.Puts++
	switch {
	case v.big:
		m.want.Dropped.ByKeep++
	case m.closed:
		m.want.Dropped.Closed++
	}
	m.p.Put(v)
}

func (m *objectModel) putPanics() {
	v := m.takeOut()
	if v == nil {
		return
	}
	m.say("Put that panics")
	v.state, v.panics = isComing, true
	defer func() {
		if recover() == nil {
			m.fail("Put did not panic where Reset did")
		}
	}()
	m.lost++
	m.p.Put(v)
}

func (m *objectModel) putAll() {
	for len(m.out) > 0 {
		v := m.out[0]
		m.out = m.out[1:]
		m.put(v)
		m.check()
	}
}

// maxIdle is how many may be idle.
func (m *objectModel) maxIdle() int {
	switch m.o.MaxIdle {
	case 0:
		return 4096
	case dewpond.NoIdle:
		return 0
	}
	return m.o.MaxIdle
}

func (m *objectModel) prewarm() {
	count, idle := m.in.below(12), m.p.Stats().Classes[0].Idle
	m.say("Prewarm %d", count)
	err := m.p.Prewarm(count)
	more := m.p.Stats().Classes[0].Idle - idle
	if m.closed && count > 0 {
		if err != dewpond.ErrClosed {
			m.fail("Prewarm after Close: %v", err)
		}
		return
	}
	if err == nil && more != count || err != nil && idle+more+1 <= m.maxIdle()/2 {
		m.fail("Prewarm of %d: %v; %d were idle, and now %d more", count, err, idle, more)
	}
	m.prewarmed += more
}

func (m *objectModel) trim() {
	m.say("Trim")
	before := m.p.Stats().IdleBytes
	if released := m.p.Trim(); released != before || m.p.Stats().IdleBytes != 0 {
		m.fail("Trim released %d bytes of %d, and left %d", released, before, m.p.Stats().IdleBytes)
	}
}

func (m *objectModel) close() {
	m.say("Close")
	m.closed = true
	if err := m.p.Close(); err != nil {
		m.fail("Close: %v", err)
	}
}

func (m *objectModel) rest() {
	d := oneOf(m.in, time.Nanosecond, 20*time.Millisecond, 200*time.Millisecond, time.Second, 10*time.Second, 4*time.Minute)
	m.say("rest %v", d)
	time.Sleep(d)
	synctest.Wait()
	timeout := m.o.IdleTimeout
	if timeout == 0 {
		timeout = time.Minute
	}
	if idle := m.p.Stats().IdleBytes; timeout > 0 && d > 3*timeout && idle > 0 {
		m.fail("%d bytes are idle after %v", idle, d)
	}
}

// burst lets several goroutines use the pool at once, past its Limit too.
func (m *objectModel) burst() {
	goroutines, each := 1+m.in.below(4), 1+m.in.below(40)
	m.say("%d goroutines Get and Put %d times", goroutines, each)
	var wg go125.WaitGroup
	for range goroutines {
		wg.Go(func() {
			var mine []*fuzzObject
			for i := range each {
				v := m.p.Get()
				m.expectState(v, isIdle, "Get")
				v.state = isOut
				mine = append(mine, v)
				runtime.Gosched()
				if i%3 == 2 {
					continue
				}
				v, mine = mine[0], mine[1:]
				m.expectState(v, isOut, "use")
				v.state = isComing
				m.p.Put(v)
			}
			for _, v := range mine {
				v.state = isComing
				m.p.Put(v)
			}
		})
	}
	wg.Wait()
	m.want.Gets += uint64(goroutines * each)
	m.want.Puts += uint64(goroutines * each)
	if m.closed {
		m.want.Dropped.Closed += uint64(goroutines * each)
	}
	over := m.p.Stats().OverMaxOut
	if most := m.want.OverMaxOut + uint64(goroutines*each); m.o.MaxOut == 0 && over > 0 || over > most {
		m.fail("OverMaxOut %d, want at most %d", over, most)
	}
	m.want.OverMaxOut = over
}

// check compares all that can be seen between two steps.
func (m *objectModel) check() {
	m.t.Helper()
	s := m.p.Stats()
	idle := s.Classes[0].Idle
	counts := func(s dewpond.Stats) [6]uint64 {
		return [...]uint64{s.Gets, s.Puts, s.Refused, s.OverMaxOut, s.Dropped.ByKeep, s.Dropped.Closed}
	}
	limit := m.maxIdle()
	if m.closed {
		limit = 0
	}
	full := s.Dropped.Full - m.last.Dropped.Full
	m.mu.Lock()
	made, gone, fails := m.made, m.gone, m.fails
	m.mu.Unlock()
	switch {
	case len(fails) > 0:
		m.fail("%q", fails)
	case counts(s) != counts(m.want):
		m.fail("Gets, Puts, Refused, OverMaxOut and dropped ByKeep and Closed: %v, want %v", counts(s), counts(m.want))
	case s.Gets != s.Hits+s.Misses:
		m.fail("%d Gets are %d hits and %d misses", s.Gets, s.Hits, s.Misses)
	case idle > limit || idle < 0 || s.IdleBytes != int64(idle)*int64(s.Classes[0].Size):
		m.fail("%d objects are idle, %d bytes; want at most %d", idle, s.IdleBytes, limit)
	case full == 1 && s.Puts == m.last.Puts+1 && idle+1 <= limit/2:
		m.fail("an object found no room beside %d", idle)
	case made != idle+len(m.out)+gone+m.lost:
		m.fail("%d objects were made: %d are idle, %d out, %d dropped, %d lost", made, idle, len(m.out), gone, m.lost)
	case s.InUseBytes != int64((len(m.out)+m.lost)*s.Classes[0].Size):
		m.fail("%d bytes in use, with %d objects out and %d lost", s.InUseBytes, len(m.out), m.lost)
	case idle != m.prewarmed+int(s.Puts-s.Hits+s.Recovered-s.Dropped.Full-s.Dropped.ByKeep-s.Dropped.Closed-s.Trimmed):
		m.fail("%d objects are idle; by what came and went it is another number: %+v", idle, s)
	}
	m.last = s
}
