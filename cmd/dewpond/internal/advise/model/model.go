// Package model says how often the collector would run if a program allocated less, or kept more.
//
// The collector begins anew when the heap has grown from what lives to a goal. So
//
//	collections = bytes allocated / (goal - live)
//
// where the goal is live + (live + stacks + globals) x GOGC/100, and with a memory limit at most what
// the limit leaves for the heap. A pool takes a site's bytes away and adds its idle bytes to what
// lives. What the formula does not know, such as how long before its goal the collector begins, the
// collections of the window itself stand for.
package model

import (
	"math"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// Off is the GOGC of a program that is collected for its memory limit alone.
const Off = -1

// A Heap is what a window of time has shown of a program. Bytes are of the heap unless said otherwise.
type Heap struct {
	Seconds     float64
	Allocated   float64 // bytes
	Collections float64 // that nobody asked for
	Goal        float64 // the mean of the goals
	Steady      float64 // of what lives for longer than from one collection to the next, by a profile's sample; 0: not known
	SteadyError float64 // half the interval of Steady
	Roots       float64 // bytes of stacks, which count for the goal as what lives does
	GOGC        float64 // or Off
	Limit       float64 // of memory, in bytes; 0: none
	Outside     float64 // bytes that count towards the limit besides the heap
}

// The runtime leaves this much below a memory limit free: of the goal, and at least in bytes.
const (
	headroom      = 0.03
	leastHeadroom = 1 << 20
)

// leastHeap is the least goal at GOGC 100.
const leastHeap = 4 << 20

// limitGoal returns the greatest goal that the limit allows.
func (h Heap) limitGoal() float64 {
	if h.Limit <= 0 {
		return math.Inf(1)
	}
	left := h.Limit - h.Outside
	return left - max(left*headroom, leastHeadroom)
}

// goalOf returns the goal where so many bytes live.
func (h Heap) goalOf(live float64) float64 {
	goal := math.Inf(1)
	if h.GOGC >= 0 {
		goal = max(live+(live+h.Roots)*h.GOGC/100, leastHeap*h.GOGC/100)
	}
	return min(goal, h.limit())
}

// limit is limitGoal, or if the limit holds now the goal that it has given.
func (h Heap) limit() float64 {
	if h.Limited() {
		return h.Goal
	}
	return h.limitGoal()
}

// Limited reports whether it is the memory limit, and not GOGC, that has the collector run.
func (h Heap) Limited() bool {
	switch {
	case h.Limit <= 0:
		return false
	case h.GOGC < 0:
		return true
	}
	below := h.below()
	return h.Goal > 0.9*h.limitGoal() && below+(below+h.Roots)*h.GOGC/100 > h.Goal*1.1
}

// enough is how many collections tell how many bytes lie between two of them.
const enough = 3

// below returns what lives, by the profile, or by how much is allocated before the heap has grown from
// there to its goal.
func (h Heap) below() float64 {
	if h.Steady > 0 || h.Collections < enough {
		return h.Steady
	}
	return max(0, h.Goal-h.Allocated/h.Collections)
}

// LiveBytes returns what a collection finds alive: by the goal, of which it is a part that GOGC says,
// unless the limit gives the goal. The goals are those of some moments, and the bytes between two collections
// are known of all: the room above what lives is not less.
func (h Heap) LiveBytes() float64 {
	if h.Limited() || h.GOGC < 0 {
		return h.below()
	}
	live := (h.Goal - h.Roots*h.GOGC/100) / (1 + h.GOGC/100)
	if h.Goal <= leastHeap*h.GOGC/100 && h.Steady > 0 { // the least goal says nothing of it
		live = min(live, h.Steady)
	}
	if more := h.GOGC / 100; more > 0 && h.Collections >= enough && h.Goal > leastHeap*more {
		between := h.Allocated / (h.Collections + 1) // the window's ends may have a part of one more
		live = max(live, between/more-h.Roots)
	}
	return max(0, live)
}

// floating returns how much of what a collection keeps is garbage that was allocated while it ran; 0 if that is
// not known. Under a memory limit it has no part in the goal, and so is in the room that the collections have shown.
func (h Heap) floating() float64 {
	if h.Steady <= 0 || h.Collections < enough || h.Limited() {
		return 0
	}
	return max(0, h.LiveBytes()-h.Steady)
}

// least is the room below which the formula means nothing: the collector runs all the time.
const least = 1 << 20

// Predict returns how many collections there would be instead of h.Collections if a share of the bytes
// was not allocated, so many more bytes were alive, and the same work took faster times less processor time:
// then so many times more of it is done while a collection runs, and makes garbage that floats.
func (h Heap) Predict(share, idle, faster float64) float64 {
	live, rate := h.LiveBytes(), (1-share)*faster
	room := h.room(live)
	if math.IsInf(room, 1) { // neither GOGC nor a limit has it collected
		return h.Collections
	}
	early := h.early(room)
	now := marking{early: early, most: mostOf(h.floating(), earliest*room), room: room}
	floats := now.floats()
	then := marking{early: min(early, max(latest(room), expected*rate*early)), most: now.most * rate, room: room}
	for range settled { // what floats is a part of what the goal follows, and the goal says how much may float
		then.room = h.room(live - floats + then.floats() + idle)
	}
	return h.Collections * (1 - share) * now.between() / then.between()
}

// settled is after how many steps what floats, and the goal that follows it, hardly change any more.
const settled = 3

// room returns how much is allocated from where so many bytes live to their goal.
func (h Heap) room(live float64) float64 { return max(least, h.goalOf(live)-live) }

// The collector begins before the goal, by as many bytes as it expects to be allocated while it marks, but not before
// earliest of the room is left, and not after latest is.
const earliest = 19.0 / 64

// latest is a part of the room, or leastHeap where that is less.
func latest(room float64) float64 { return min(3.0/64, leastHeap/room) }

// expected is how many times as much as is allocated in a marking the collector may expect: if the program leaves processors
// idle, it takes it to go on while they mark.
const expected = 3

// early returns which part of the room is left in the mean when marking has ended.
func (h Heap) early(room float64) float64 {
	if h.Collections < enough {
		return 0
	}
	return min(earliest, max(latest(room), 1-h.Allocated/h.Collections/room))
}

// Then is Predict for a share, and idle bytes, that were estimated. The interval has both that the processors
// limit the work, so that more of it is done, and that they do not.
func (h Heap) Then(share, idle estimate.Estimate, faster float64) estimate.Estimate {
	if !share.Known() {
		return share
	}
	if !idle.Known() {
		idle = estimate.Estimate{}
	}
	e := estimate.Exact(h.Predict(share.Mid, idle.Mid, faster))
	for _, steady := range []float64{h.Steady - h.SteadyError, h.Steady, h.Steady + h.SteadyError} {
		at := h
		at.Steady = max(0, steady)
		for _, share := range []float64{share.Low, share.High} {
			for _, idle := range []float64{idle.Low, idle.High} {
				for _, faster := range []float64{1, faster} {
					c := at.Predict(share, idle, faster)
					e.Low, e.High = min(e.Low, c), max(e.High, c)
				}
			}
		}
	}
	return e
}

// BreakEven returns how many idle bytes of a pool cost as many collections as a share of the bytes
// that it saves: under a memory limit they take the collector's room. It is +Inf without a limit,
// where idle bytes raise the goal.
func (h Heap) BreakEven(share float64) float64 {
	live := h.LiveBytes()
	if math.IsInf(h.limit(), 1) {
		return math.Inf(1)
	}
	// At the least number of idle bytes at which the collections are as many as before. With GOGC the
	// room grows at first, up to the limit.
	low, high := 0.0, max(0, h.limit()-live)
	for range 60 {
		mid := (low + high) / 2
		if h.Predict(share, mid, 1) < h.Collections {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
