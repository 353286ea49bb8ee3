package scope

import "github.com/dewpond/dewpond"

type holder struct{ piece []byte }

func returned(p *dewpond.BytePool) []byte {
	s := p.Scope()
	defer s.Close()
	return s.Get(10) // want `a slice of the scope is returned, but the deferred Close at a.go:9:2 ends it \(scope\)`
}

func (h *holder) stored(p *dewpond.BytePool) {
	s := p.Scope()
	defer s.Close()
	h.piece = s.Copy([]byte("x")) // want `is stored in what outlives the call`
}

func sent(p *dewpond.BytePool, c chan []byte) {
	s := p.Scope()
	defer s.Close()
	b := s.Get(10)
	c <- b[:3] // want `a slice of the scope is sent`
}

func given(p *dewpond.BytePool, f func([]byte)) {
	s := p.Scope()
	defer s.Close()
	b := s.Get(10)
	go f(b) // want `a goroutine gets a slice of the scope`
}

func slices(p *dewpond.BytePool) []int {
	s := p.Scope()
	defer s.Close()
	return dewpond.ScopeSlice[int](s, 3) // want `a slice of the scope is returned`
}

func late(p *dewpond.BytePool) byte {
	s := p.Scope()
	b := s.Get(10)
	s.Close()
	return b[0] // want `a slice of the scope is used after Close`
}

func getLate(p *dewpond.BytePool) {
	s := p.Scope()
	s.Close()
	s.Get(10) // want `Get is called after Close`
}

func copied(p *dewpond.BytePool) string {
	s := p.Scope()
	defer s.Close()
	b := s.Get(10)
	return string(b)
}

func twice(p *dewpond.BytePool) {
	s := p.Scope()
	defer s.Close()
	s.Get(3)
	s.Close()
}

func twoGoroutines(p *dewpond.BytePool, f func([]byte)) {
	s := p.Scope()
	go func() { f(s.Get(3)) }()
	go func() { f(s.Get(3)) }() // want `this goroutine uses the scope beside the one started at a.go:\d+:\d+ \(scope\)`
}

func inALoop(p *dewpond.BytePool, f func(*dewpond.Scope)) {
	s := p.Scope()
	for range 3 {
		go f(s) // want `this goroutine uses the scope beside the one started at`
	}
}

func eachItsOwn(p *dewpond.BytePool, f func(*dewpond.Scope)) {
	for range 3 {
		s := p.Scope()
		go f(s)
	}
}

func beside(p *dewpond.BytePool, f func([]byte)) {
	s := p.Scope()
	go func() { f(s.Get(3)) }()
	f(s.Get(3)) // want `the scope is used beside the goroutine started at a.go:\d+:\d+, which uses it too \(scope\)`
}

func afterwards(p *dewpond.BytePool, f func([]byte)) {
	s := p.Scope()
	done := make(chan bool)
	go func() {
		f(s.Get(3))
		close(done)
	}()
	<-done
	f(s.Get(3))
	s.Close()
}
