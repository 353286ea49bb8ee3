package admission

import (
	"math/bits"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
)

// The members of a Budget are its pools. It keeps none alive, and knows which of them may have
// idle blocks: a refusal looks at these alone, and at one word for each 64 members.
type members struct {
	mu     atomics.Mutex // held for a few loads of each pool that is looked at
	groups []*group
	vacant []int          // numbers of members that have left
	count  int            // of those that have not
	joined bool           // there was a member
	looks  atomics.Uint64 // how often deposited has looked
	bytes  int64          // what it has found last
	looked atomics.Statistic
}

// A group is 64 members, those with numbers from a multiple of 64 on.
type group struct {
	holding atomics.Uint64 // a bit for each member that may have idle blocks: see magazine.Engine.Report
	gates   [64]weak.Pointer[Gate]
}

// add makes a pool a member, and returns its number.
func (m *members) add(g *Gate) (number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := len(m.vacant) - 1; last >= 0 {
		number, m.vacant = m.vacant[last], m.vacant[:last]
	} else {
		number = m.count // all numbers below are taken
		if number/64 == len(m.groups) {
			m.groups = append(m.groups, new(group))
		}
	}
	m.count++
	m.joined = true
	at := m.groups[number/64]
	at.gates[number%64] = weak.Make(g)
	g.engine.Report(&at.holding, 1<<(number%64))
	return number
}

// remove undoes add. An engine that is still used may go on reporting to the bit of the member that has
// the number next, which costs a look at that one.
func (m *members) remove(number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.groups[number/64].gates[number%64] = weak.Pointer[Gate]{}
	m.vacant = append(m.vacant, number)
	m.count--
}

// len returns how many pools are members, and whether there ever was one.
func (m *members) len() (n int, joined bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count, m.joined
}

// all returns the gates of the members that are still alive.
func (m *members) all() (gates []*Gate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.groups {
		for i := range at.gates {
			if g := at.gates[i].Value(); g != nil {
				gates = append(gates, g)
			}
		}
	}
	return gates
}

// holding returns the gates of the members that may have idle blocks. For each other member there
// was a moment during the call at which it had none.
func (m *members) holding() []*Gate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.holdingLocked()
}

func (m *members) holdingLocked() (gates []*Gate) {
	for _, at := range m.groups {
		for word := at.holding.Load(); word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			g := at.gates[i].Value()
			if g == nil || g.engine.Reserved() == 0 {
				// A section that makes a place now either finds no bit, or is seen below.
				if at.holding.And(^(1 << i)); g == nil || g.engine.Reserved() == 0 {
					continue
				}
				at.holding.Or(1 << i)
			}
			gates = append(gates, g)
		}
	}
	m.looked.Add(uint64(len(gates)))
	return gates
}

// deposited returns the bytes that are idle in depots. Of several calls at the same time one
// looks for all.
func (m *members) deposited() int64 {
	before := m.looks.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looks.Load() == before { // else all of another look came during this call
		m.looks.Add(1)
		m.bytes = 0
		for _, g := range m.holdingLocked() {
			for c, size := range g.sizes {
				m.bytes += int64(g.engine.Deposited(uint8(c))) * int64(size)
			}
		}
	}
	return m.bytes
}

// enterDirect moves the idle blocks of all members into their depots.
func (m *members) enterDirect() {
	var engines []*magazine.Engine
	for _, g := range m.holding() {
		engines = append(engines, g.engine)
	}
	magazine.EnterDirect(engines)
}
