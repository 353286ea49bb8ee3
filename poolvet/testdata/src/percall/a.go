package percall

import "github.com/dewpond/dewpond"

type server struct{ pool *dewpond.BytePool }

func each() int {
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{}) // want `this pool is made on each call, and neither kept, returned nor closed \(percall\)`
	b := p.Get(10)
	defer p.Put(b)
	return len(b)
}

func closed() int {
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{})
	defer p.Close()
	b := p.Get(10)
	defer p.Put(b)
	return len(b)
}

func kept() *server {
	return &server{pool: dewpond.MustBytePool(dewpond.BytePoolOptions{})}
}

func given() { use(dewpond.MustBytePool(dewpond.BytePoolOptions{})) }

func use(p *dewpond.BytePool) { global = p }

var global *dewpond.BytePool
