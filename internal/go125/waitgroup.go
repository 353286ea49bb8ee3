// Package go125 has what this module uses of Go 1.25's library, for Go 1.24 too.
package go125

import "sync"

// A WaitGroup is a sync.WaitGroup with the method Go.
type WaitGroup struct{ sync.WaitGroup }

// Go calls f in a goroutine that Wait waits for.
func (w *WaitGroup) Go(f func()) {
	w.Add(1)
	go func() {
		defer w.Done()
		f()
	}()
}
