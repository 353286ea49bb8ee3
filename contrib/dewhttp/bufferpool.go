package dewhttp

import "github.com/dewpond/dewpond"

// A BufferPool is a [net/http/httputil.BufferPool] on blocks of a pool:
//
//	proxy.BufferPool = dewhttp.BufferPool{Pool: pool}
type BufferPool struct {
	Pool *dewpond.BytePool // nil: dewpond.Default()
	Size int               // of each buffer, in bytes; 0: 32 KiB, which a ReverseProxy makes without a pool
}

// Get returns a buffer of Size bytes.
func (p BufferPool) Get() []byte {
	size := p.Size
	if size == 0 {
		size = 32 << 10
	}
	return orDefault(p.Pool).Get(size)
}

// Put gives a buffer back.
func (p BufferPool) Put(b []byte) { orDefault(p.Pool).Put(b) }

func orDefault(p *dewpond.BytePool) *dewpond.BytePool {
	if p == nil {
		return dewpond.Default()
	}
	return p
}
