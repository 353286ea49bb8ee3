package progress

import (
	"sync"
	"time"
)

// A ticker calls a function at intervals, with mu locked, until it is stopped.
type ticker struct {
	mu   sync.Mutex
	done chan struct{}
	wg   sync.WaitGroup
}

func (t *ticker) start(interval time.Duration, tick func()) {
	t.done = make(chan struct{})
	t.wg.Go(func() {
		clock := time.NewTicker(interval)
		defer clock.Stop()
		for {
			select {
			case <-t.done:
				return
			case <-clock.C:
				t.mu.Lock()
				tick()
				t.mu.Unlock()
			}
		}
	})
}

func (t *ticker) stop() {
	close(t.done)
	t.wg.Wait()
}
