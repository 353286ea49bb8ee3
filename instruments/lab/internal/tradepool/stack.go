package tradepool

import "sync/atomic"

// A Stack is a list whose head is moved by compare and swap. A new node for each Push makes that
// safe: the collector does not reuse a node that somebody still looks at.
type Stack struct {
	head  atomic.Pointer[node]
	count atomic.Int64
}

type node struct {
	buffer *[]byte
	next   *node
}

// Push adds a buffer, or drops it if the stack seems to be full.
func (s *Stack) Push(b *[]byte) {
	if !s.Full() { // others may pass at the same time
		s.Place(b)
	}
}

// Full is the first step of Push.
func (s *Stack) Full() bool { return s.count.Load() >= Cap }

// Place is the second.
func (s *Stack) Place(b *[]byte) {
	n := &node{buffer: b}
	for {
		n.next = s.head.Load()
		if s.head.CompareAndSwap(n.next, n) {
			s.count.Add(1)
			return
		}
	}
}

// Pop removes the newest buffer, nil if there is none.
func (s *Stack) Pop() *[]byte {
	for {
		n := s.head.Load()
		if n == nil {
			return nil
		}
		if s.head.CompareAndSwap(n, n.next) {
			s.count.Add(-1)
			return n.buffer
		}
	}
}

// Len returns how many buffers it has.
func (s *Stack) Len() int { return int(s.count.Load()) }

// A Recycling stack reuses its nodes, as the text remarks that one could. A node that was popped
// and pushed again meanwhile has its old address, so that a compare and swap takes it for
// unchanged: two goroutines get one buffer. What is pushed is a number.
type Recycling struct{ head atomic.Pointer[numbered] }

// numbered is a node of a [Recycling] stack.
type numbered struct {
	value int
	next  atomic.Pointer[numbered]
}

// Spares are the popped nodes of one goroutine.
type Spares struct{ nodes []*numbered }

// First takes the node that was popped first.
func (s *Spares) First() Spares {
	first := Spares{nodes: s.nodes[:1:1]}
	s.nodes = s.nodes[1:]
	return first
}

// Push adds a value with a spare node, if there is one.
func (s *Recycling) Push(value int, spares *Spares) {
	var n *numbered
	if last := len(spares.nodes) - 1; last >= 0 {
		n, spares.nodes = spares.nodes[last], spares.nodes[:last]
	} else {
		n = new(numbered)
	}
	n.value = value
	for {
		head := s.head.Load()
		n.next.Store(head)
		if s.head.CompareAndSwap(head, n) {
			return
		}
	}
}

// Pop removes the newest value. between is called where another goroutine may come in.
func (s *Recycling) Pop(spares *Spares, between func()) (value int, ok bool) {
	for {
		n := s.head.Load()
		if n == nil {
			return 0, false
		}
		next := n.next.Load()
		between()
		if s.head.CompareAndSwap(n, next) {
			value = n.value
			spares.nodes = append(spares.nodes, n)
			return value, true
		}
	}
}
