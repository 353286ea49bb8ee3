package dewpond

import "sync"

var defaultPool = sync.OnceValue(func() *BytePool {
	return MustBytePool(BytePoolOptions{Name: "default"})
})

// Default returns the pool that Get and Put of this package use. It has the
// default options and is called "default". Do not close it: it is everybody's.
func Default() *BytePool { return defaultPool() }

// Get is Default().Get: n bytes, zeroed, on a block that should go back by Put.
func Get(n int) []byte { return defaultPool().Get(n) }

// Put is Default().Put.
func Put(b []byte) { defaultPool().Put(b) }
