package leaves

// Here goroutines race with what their makers put back: no test runs it.

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
)

func given(p *dewpond.BytePool, use func([]byte)) {
	b := get(p)
	defer p.Put(b)
	go use(b) // want `the goroutine may still use b when the deferred Put at late.go:\d+:\d+ puts it back \(returnput\)`
}

func capturedBy(p *dewpond.BytePool, use func([]byte)) {
	b := get(p)
	defer p.Put(b)
	go func() { use(b) }() // want `the goroutine may still use b when the deferred Put`
}

func slow(b []byte) error {
	b[0] = 'y'
	return nil
}

// canceled has the shape of https://github.com/grafana/mimir/issues/5830.
func canceled(ctx context.Context, p *dewpond.BytePool) (byte, error) {
	b := get(p)
	defer p.Put(b)
	done := make(chan error, 1)
	go func() { done <- slow(b) }()
	select {
	case err := <-done:
		return b[0], err
	case <-ctx.Done():
		return 0, ctx.Err() // want `the goroutine started at late.go:\d+:\d+ may still use b, which the deferred Put at late.go:\d+:\d+ puts back \(returnput\)`
	}
}

func timedOut(p *dewpond.BytePool) error {
	b := get(p)
	done := make(chan error, 1)
	go func() { done <- slow(b) }()
	select {
	case err := <-done:
		p.Put(b)
		return err
	case <-time.After(time.Second):
		p.Put(b) // want `b is put back, but was given to a goroutine at late.go:\d+:\d+, which may still use it`
		return errors.New("too late")
	}
}

func leftToTheCollector(ctx context.Context, p *dewpond.BytePool) error {
	b := get(p)
	done := make(chan error, 1)
	go func() { done <- slow(b) }()
	select {
	case err := <-done:
		p.Put(b)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func notAllWaitedFor(p *dewpond.BytePool, n int) error {
	b := get(p)
	defer p.Put(b)
	var all sync.WaitGroup
	for i := range n {
		if i > 5 {
			return errors.New("too many") // want `the goroutine started at late.go:\d+:\d+ may still use b`
		}
		all.Go(func() { slow(b) })
	}
	all.Wait()
	return nil
}

func lease(p *dewpond.BytePool, use func([]byte)) {
	l := p.Lease(1)
	defer l.Release()
	go func() { use(l.Bytes()) }() // want `a goroutine uses the lease, which the deferred Release at late.go:\d+:\d+ ends \(lease\)`
}

func buffer(p *dewpond.BytePool, use func([]byte)) {
	b := p.Buffer()
	defer b.Release()
	b.WriteString("x")
	go func() { use(b.Bytes()) }() // want `a goroutine uses the buffer, which the deferred Release at late.go:\d+:\d+ ends \(buffer\)`
}

func piece(p *dewpond.BytePool, to chan answer) {
	s := p.Scope()
	defer s.Close()
	var a answer
	a.body = s.Copy([]byte("x"))
	to <- a // want `a slice of the scope is sent, but the deferred Close at late.go:\d+:\d+ ends it \(scope\)`
}
