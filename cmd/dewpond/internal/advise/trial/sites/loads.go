package main

import (
	"bytes"
	"math/rand/v2"

	"github.com/dewpond/dewpond"
)

// A load is what a request makes. Each has a site for which another tool is advised.
type load struct {
	request func(s *service, random *rand.Rand) byte
	warm    func(o settings) int // requests until what lives is as it will be
	bytes   map[string]float64   // of a request, at the sites of which each block has one size
	bursts  bool                 // whether there are times without requests
}

var loads = map[string]load{
	"answers":  {(*service).request, func(o settings) int { return 2 * o.every * o.cached }, map[string]float64{"answer": answerBytes, "pieces": pieces * pieceBytes}, false},
	"messages": {(*service).message, func(o settings) int { return o.window }, map[string]float64{"message": messageBytes}, false},
	"orders":   {answering((*service).order), few, map[string]float64{"answer": answerBytes, "order": answerBytes}, false},
	"bodies":   {answering((*service).body), few, map[string]float64{"answer": answerBytes}, false},
	"bursts":   {answering((*service).picture), few, map[string]float64{"answer": answerBytes, "frame": frames * frameBytes}, true},
}

func few(settings) int { return 100 }

// answering makes an answer, too, so that each site has a part of the bytes.
func answering(more func(*service, *rand.Rand) byte) func(*service, *rand.Rand) byte {
	return func(s *service, random *rand.Rand) byte {
		answer := s.answer()
		answer[0] = more(s, random)
		defer s.doneWith(answer)
		return answer[0]
	}
}

// The sizes of the loads.
const (
	messageBytes = 1 << 10
	lines        = 1023
	parts        = 20
	partBytes    = 1 << 10
	frames       = 16
	frameBytes   = 128 << 10
)

// message puts a message into the window, where it replaces the oldest.
func (s *service) message(random *rand.Rand) byte {
	var message []byte
	if s.pooled["message"] {
		message = s.pool.Get(messageBytes)
	} else {
		message = make([]byte, messageBytes)
	}
	first := byte(random.IntN(256))
	message[0] = first
	s.mu.Lock()
	old := s.window[s.next%len(s.window)]
	s.window[s.next%len(s.window)] = message
	s.next++
	s.mu.Unlock()
	if s.pooled["message"] && old != nil {
		s.pool.Put(old)
	}
	return first
}

// An order is what a request fills in, as large as an answer.
type order struct {
	lines    [lines]line
	n, total uint64
}

type line struct{ item, count uint64 }

// reset clears what was written.
func (o *order) reset() {
	clear(o.lines[:o.n])
	o.n, o.total = 0, 0
}

// order fills one in.
func (s *service) order(random *rand.Rand) byte {
	var o *order
	if s.pooled["order"] {
		o = s.orders.Get()
		defer s.orders.Put(o)
	} else {
		o = &order{}
	}
	for range 1 + random.IntN(30) {
		o.lines[o.n] = line{random.Uint64N(1000), 1 + random.Uint64N(9)}
		o.total += o.lines[o.n].count
		o.n++
	}
	return byte(o.total)
}

// body writes one of several parts, which grows as it is written.
func (s *service) body(*rand.Rand) byte {
	if s.pooled["body"] {
		b := s.pool.Buffer()
		defer b.Release()
		for range parts {
			b.Write(s.part)
		}
		return byte(b.Len() / partBytes)
	}
	var b bytes.Buffer
	for range parts {
		b.Write(s.part)
	}
	return byte(b.Len() / partBytes)
}

// picture has all its frames at the same time.
func (s *service) picture(random *rand.Rand) (sum byte) {
	var all [frames][]byte
	for i := range all {
		all[i] = s.frame()
		all[i][0] = byte(random.IntN(256))
	}
	for _, frame := range all {
		sum += frame[0]
		if s.pooled["frame"] {
			s.frames.Put(frame)
		}
	}
	return sum
}

func (s *service) frame() []byte {
	if s.pooled["frame"] {
		return s.frames.Get(frameBytes)
	}
	return make([]byte, frameBytes)
}

// stats returns the counts of all pools together.
func (s *service) stats() (sum dewpond.Stats) {
	for _, of := range []dewpond.Stats{s.pool.Stats(), s.orders.Stats(), s.frames.Stats()} {
		sum.Gets += of.Gets
		sum.Puts += of.Puts
		sum.IdleBytes += of.IdleBytes
	}
	return sum
}
