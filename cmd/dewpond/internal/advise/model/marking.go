package model

import "math"

// A marking is what is allocated while the collector marks, which is garbage that floats: the collection keeps it.
//
// How long a marking takes depends on when its goroutines get their turn. So what is allocated meanwhile is taken to lie anywhere
// between nothing and most, with the same likelihood, and to end where the heap is at its goal: the nearer that is, the
// more the runtime has those mark that allocate. So a program that keeps its processors busy has as much garbage
// floating as the goal allows, and hardly less of it if it allocates half as fast.
type marking struct {
	early float64 // which part of the room is left when it has ended, if that is more than follows from most
	most  float64 // bytes
	room  float64 // bytes, from what lives to the goal
}

// reserve returns the most bytes before the goal at which the collector begins.
func (m marking) reserve() float64 { return earliest * m.room }

// floats returns how much is allocated in the mean while the collector marks.
func (m marking) floats() float64 {
	if reserve := m.reserve(); m.most > reserve {
		return reserve * (1 - reserve/m.most/2)
	}
	return m.most / 2
}

// mostOf returns the most that is allocated in a marking, if in the mean so much is. Where that is the whole reserve
// or more, it is taken to be many times the reserve.
func mostOf(floats, reserve float64) float64 {
	if floats <= reserve/2 {
		return 2 * floats
	}
	const many = 32
	return min(many*reserve, reserve*reserve/max(0, reserve-floats)/2)
}

// begins returns how many bytes before the goal the collector begins: as many as it expects to be allocated while it
// marks, by the markings of the last five collections of which most was.
func (m marking) begins() float64 {
	reserve := m.reserve()
	begins := m.most * 5 / 6 // the greatest of five numbers between 0 and most, in the mean
	if m.most > reserve {
		begins = reserve * (1 - math.Pow(reserve/m.most, 5)/6)
	}
	return max(begins, max(m.early, latest(m.room))*m.room)
}

// between returns how much is allocated from the end of a marking to the end of the next.
func (m marking) between() float64 { return m.room - m.begins() + m.floats() }
