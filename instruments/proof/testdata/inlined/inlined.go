// Package inlined writes to a Buffer as users do.
package inlined

import "github.com/dewpond/dewpond"

// Body builds a body and returns its length.
func Body(pool *dewpond.BytePool, name string) int {
	b := pool.Buffer()
	defer b.Release()
	b.WriteString("name=")
	b.WriteString(name)
	b.WriteByte('\n')
	return b.Len()
}
