package dewpond

import "sync"

var defaultPool = sync.OnceValue(func() *BytePool {
	p := MustBytePool(BytePoolOptions{Name: "default"})
	p.shared = true
	return p
})

// Default returns the pool that [Get] and [Put] use. It has the default options and the
// name "default". All packages of the program share it, so its Close returns an error and
// does nothing.
func Default() *BytePool { return defaultPool() }

// Get calls [BytePool.Get] of the pool [Default]: it returns n zero bytes on a block that
// should be given back with [Put].
func Get(n int) []byte { return defaultPool().Get(n) }

// Put calls [BytePool.Put] of the pool [Default].
func Put(b []byte) { defaultPool().Put(b) }
