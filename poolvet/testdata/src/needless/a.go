package needless

import "sync"

type policy struct {
	limit int
	names map[string]bool
}

var policies = sync.Pool{New: func() any { return &policy{limit: 3, names: map[string]bool{"a": true}} }} // want `nothing writes a policy once it is made: share one instead of pooling it \(needless\)`

func allowed(name string, n int) bool {
	p := policies.Get().(*policy)
	defer policies.Put(p)
	return n < p.limit && p.names[name]
}

type hasher struct{}

func (*hasher) sum(b []byte) (n int) {
	for _, c := range b {
		n = n*31 + int(c)
	}
	return n
}

var hashers = sync.Pool{New: func() any { return new(hasher) }} // want `nothing writes a hasher once it is made`

func sum(b []byte) int {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	return h.sum(b)
}

type counter struct{ n int }

var counters = sync.Pool{New: func() any { return new(counter) }}

func count(b []byte) int {
	c := counters.Get().(*counter)
	defer counters.Put(c)
	c.n = 0
	for range b {
		c.n++
	}
	return c.n
}

type set struct{ seen map[string]bool }

var sets = sync.Pool{New: func() any { return &set{map[string]bool{}} }}

func distinct(all []string) int {
	s := sets.Get().(*set)
	defer sets.Put(s)
	clear(s.seen)
	for _, x := range all {
		s.seen[x] = true
	}
	return len(s.seen)
}
